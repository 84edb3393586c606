#include "ledger/report_page.h"

#include "ledger/page_parts.h"

namespace bk::ledger {
namespace {

void replace(std::string& text, const std::string& mark, const std::string& with) {
  const std::size_t at = text.find(mark);
  if (at != std::string::npos) text.replace(at, mark.size(), with);
}

/// JSON that no text inside a script element can end: "</script>" and "<!--" are written with an escaped "<".
std::string inert(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string report_page(const Json& data, bool live) {
  std::string html = page::page_html;
  replace(html, "@css@", page::page_css);
  replace(html, "@js@", std::string(page::plot_js) + page::bracket_js + page::page_js + (live ? page::live_js : ""));
  // Last: what stands in the data is no mark.
  replace(html, "@data@", inert(data.dump()));
  return html;
}

}  // namespace bk::ledger
