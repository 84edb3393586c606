#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "stream/chunk.h"

namespace bk::stream {
namespace {

constexpr std::size_t kMaxMessage = 500;

std::string one_line(std::string_view text) {
  text = trim(text);
  std::string out(text.substr(0, kMaxMessage));
  if (out.size() < text.size()) {
    while (!out.empty() && !is_utf8(out) && out.size() + 4 > kMaxMessage) out.pop_back();
  }
  std::replace_if(
      out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return out;
}

std::string text_or_dump(const Json& value) {
  const auto text = value.as_string();
  return text ? *text : value.dump();
}

}  // namespace

std::string ChunkReader::error_message(std::string_view payload) {
  const auto document = parse_json(payload);
  std::string text(payload);
  if (document && document->is_object()) {
    for (const char* name : {"error", "message", "detail"}) {
      const Json& value = (*document)[name];
      if (value.is_null()) continue;
      const Json& message = value["message"];
      text = text_or_dump(message.is_null() ? value : message);
      break;
    }
  } else if (document && document->as_string()) {
    text = *document->as_string();
  }
  text = one_line(text);
  return text.empty() ? "an error without a message" : text;
}

}  // namespace bk::stream
