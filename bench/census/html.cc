#include "html.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/version.h"
#include "report/number.h"
#include "report/table.h"
#include "trace/composition.h"
#include "trace/gaps.h"

namespace bk::census {
namespace {

constexpr std::size_t kKernelRows = 40;

double us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string shorten(const std::string& name) {
  constexpr std::size_t kColumns = 160;
  const std::string_view start = report::clip(name, kColumns);
  return std::string(start) + (start.size() < name.size() ? "…" : "");
}

/// The shown step: its slices by stream, and the group of every name.
struct View {
  const trace::Recording& recording;
  const trace::Rules& rules;
  trace::Step step;
  std::vector<std::size_t> groups;  ///< by name
  std::vector<trace::Slice> slices;
  std::map<std::uint32_t, std::vector<trace::Slice>> lanes;
  [[nodiscard]] std::int64_t span_ns() const { return std::max<std::int64_t>(step.end_ns - step.begin_ns, 1); }
};

View view_of(const trace::Recording& recording, const trace::Rules& rules, const trace::Step& step) {
  View view{recording, rules, step, trace::groups_of_names(recording, rules), {}, {}};
  for (const trace::Slice& slice : recording.sorted({trace::Kind::kKernel, trace::Kind::kMemop})) {
    if (slice.ts_ns >= step.end_ns || slice.end_ns() <= step.begin_ns) continue;
    view.slices.push_back(slice);
    view.lanes[slice.stream].push_back(slice);
  }
  return view;
}

constexpr const char* kStyle = R"css(
:root{color-scheme:light dark;--page:#fff;--text:#1c1c1e;--soft:#62626a;--lane:#eeeef1;--line:#d9d9de;--s:58%;--l:46%}
@media(prefers-color-scheme:dark){:root{--page:#16171a;--text:#ececef;--soft:#a3a3ac;--lane:#26272c;--line:#3a3b42;
--s:52%;--l:60%}}
*{box-sizing:border-box}
body{font:15px/1.45 system-ui,sans-serif;margin:0 auto;padding:1.5rem clamp(1rem,3vw,2.5rem);max-width:90rem;
background:var(--page);color:var(--text)}
h1{font-size:1.35rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.1rem;margin:2rem 0 .3rem}
p{margin:.3rem 0;color:var(--soft);overflow-wrap:anywhere}
dl{display:flex;flex-wrap:wrap;gap:.6rem 2.2rem;margin:1rem 0}dt{color:var(--soft);font-size:.85rem}
dd{margin:0;font-size:1.2rem;font-variant-numeric:tabular-nums}
.scroll{overflow-x:auto}
.lane{display:flex;align-items:center;margin:3px 0}
.lane b{position:sticky;left:0;z-index:1;flex:0 0 4.2rem;font-weight:400;font-size:.85rem;background:var(--page);
overflow-wrap:anywhere}
.lane svg{flex:1;min-width:0;height:30px;background:var(--lane)}
.ticks{display:flex;justify-content:space-between;margin-left:4.2rem;color:var(--soft);font-size:.8rem}
table{border-collapse:collapse;width:100%;font-size:.9rem}
th{text-align:left;font-weight:600;color:var(--soft)}td,th{padding:.25rem .7rem .25rem 0;vertical-align:top}
tr+tr td{border-top:1px solid var(--line)}
.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}.g{white-space:nowrap}
.k{padding-left:1.2em;text-indent:-1.2em;word-break:break-all}.k small{display:block;text-indent:0;color:var(--soft)}
.bar{width:38%;padding-top:.5rem}.bar i{display:block;height:.8rem;border-radius:2px}
.dot{display:inline-block;width:.75em;height:.75em;border-radius:2px;margin-right:.45em;text-indent:0}
@media(max-width:600px){.bar{width:22%}.wide{display:none}}
)css";

/// Hues a golden angle apart differ even between neighbours.
std::string group_style(const trace::Rules& rules) {
  std::string css;
  for (std::size_t g = 0; g < rules.groups.size(); ++g) {
    css += fmt::format(".g{0}{{fill:hsl({1} var(--s) var(--l));background:hsl({1} var(--s) var(--l))}}\n", g,
                       (g * 137) % 360);
  }
  return css;
}

std::string head(const View& view) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<title>census of {}</title>\n<style>{}{}</style></head><body>\n",
      escaped(view.recording.source), kStyle, group_style(view.rules));
}

std::string facts(const View& view, const trace::Census& census, const std::vector<std::string>& notes) {
  const std::string& source = view.recording.source;
  const double busy_pct = 100.0 *
                          static_cast<double>(trace::covered_ns(view.slices, view.step.begin_ns, view.step.end_ns)) /
                          static_cast<double>(view.span_ns());
  std::string html = fmt::format("<h1>{}</h1>\n", escaped(source.substr(source.rfind('/') + 1)));
  html += fmt::format("<p>{}</p>\n<dl>", escaped(source));
  const std::pair<const char*, std::string> items[] = {
      {"steps", std::to_string(census.steps)},
      {"kernels", std::to_string(census.kernels.count)},
      {"kernel time", report::number(us(census.kernels.sum_ns) / 1e3) + " ms"},
      {"this step", report::number(us(view.span_ns())) + " us"},
      {"busy in it", fmt::format("{:.1f} %", busy_pct)}};
  for (const auto& [label, value] : items) html += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", label, value);
  html += fmt::format("</dl>\n<p>One step is one {}</p>\n", escaped(census.anchor_text));
  for (const std::string& note : notes) html += fmt::format("<p>{}</p>\n", escaped(note));
  return html;
}

std::string lane(const View& view, std::uint32_t stream, const std::vector<trace::Slice>& slices) {
  constexpr double kWidth = 10'000, kNarrowest = 4;  // of the whole lane
  const double scale = kWidth / us(view.span_ns());
  std::string svg = fmt::format(
      "<div class=\"lane\"><b>{0}</b><svg viewBox=\"0 0 {1} 30\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{2} on stream {0}\">\n",
      escaped(view.recording.streams()[stream].label()), kWidth, slices.size());
  for (const trace::Slice& slice : slices) {
    const double begin = us(std::max(slice.ts_ns, view.step.begin_ns) - view.step.begin_ns);
    const double length = us(std::min(slice.end_ns(), view.step.end_ns) - view.step.begin_ns) - begin;
    svg += fmt::format(
        "<rect x=\"{:.1f}\" y=\"3\" width=\"{:.1f}\" height=\"24\" class=\"g{}\"><title>{}, {:.3f} us at "
        "{:.3f}</title></rect>\n",
        begin * scale, std::max(length * scale, kNarrowest), view.groups[slice.name],
        escaped(trace::short_name(view.recording.names()[slice.name].text)), us(slice.dur_ns), begin);
  }
  return svg + "</svg></div>\n";
}

/// As wide as the window, or wider and scrolled when that gives a kernel less than about two pixels.
std::string timeline(const View& view) {
  std::size_t most = 0;
  for (const auto& entry : view.lanes) most = std::max(most, entry.second.size());
  std::string html = fmt::format(
      "<h2>One step, by stream</h2>\n<p>From {:.3f} us of the trace, device:stream at the left. Scroll sideways where "
      "it is "
      "wider than the window; point at a kernel for its name.</p>\n<div class=\"scroll\"><div "
      "style=\"min-width:{}px\">\n",
      us(view.step.begin_ns), std::clamp<std::size_t>(2 * most, 320, 6000));
  for (const auto& [stream, slices] : view.lanes) html += lane(view, stream, slices);
  html += "<div class=\"ticks\">";
  constexpr int kTicks = 4;
  for (int i = 0; i <= kTicks; ++i) {
    html += fmt::format("<span>{:.0f}{}</span>", us(view.span_ns()) * i / kTicks, i == kTicks ? " us" : "");
  }
  return html + "</div></div></div>\n";
}

/// A coloured mark and a name.
std::string group_cell(std::size_t group, const std::string& name) {
  return fmt::format("<td class=\"g\"><span class=\"dot g{}\"></span>{}</td>", group, escaped(name));
}

std::string bar_cell(std::size_t group, double share) {
  return fmt::format("<td class=\"bar\"><i class=\"g{}\" style=\"width:{:.1f}%\"></i></td>", group, 100 * share);
}

std::string bars(const View& view, const trace::Census& census) {
  std::string html =
      "<h2>A step, by group</h2>\n<p>Means over all steps.</p>\n<table><tr><th>group</th><th></th>"
      "<th class=\"n\">us/step</th><th class=\"n\">kernels/step</th><th class=\"n\">%</th></tr>\n";
  const double most = census.groups.empty() ? 1 : std::max(us(census.groups.front().amount.sum_ns), 1e-9);
  const double all = std::max(us(census.counted.sum_ns), 1e-9);
  const auto steps = static_cast<double>(std::max<std::uint64_t>(census.steps, 1));
  for (const auto& row : census.groups) {
    const auto found = std::find_if(view.rules.groups.begin(), view.rules.groups.end(),
                                    [&](const auto& candidate) { return candidate.name == row.group; });
    const auto group = static_cast<std::size_t>(found - view.rules.groups.begin());
    const double time = us(row.amount.sum_ns);
    html += "<tr>" + group_cell(group, row.group) + bar_cell(group, time / most);
    html += fmt::format("<td class=\"n\">{:.1f}</td><td class=\"n\">{:.1f}</td><td class=\"n\">{:.1f}</td></tr>\n",
                        time / steps, static_cast<double>(row.amount.count) / steps, 100 * time / all);
  }
  return html + "</table>\n";
}

std::string kernel_table(const View& view) {
  std::map<std::uint32_t, trace::Amount> by_name;
  for (const trace::Slice& slice : view.slices) by_name[slice.name].add(1, slice.dur_ns);
  std::vector<std::pair<std::uint32_t, trace::Amount>> rows(by_name.begin(), by_name.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.sum_ns > b.second.sum_ns; });
  const std::size_t shown = std::min(rows.size(), kKernelRows);
  std::map<std::string, int> same;
  for (const auto& row : rows) ++same[trace::short_name(view.recording.names()[row.first].text)];
  const std::string which = shown < rows.size() ? fmt::format("{} of {} names", shown, rows.size()) : "All names";
  std::string html = fmt::format(
      "<h2>This step, by kernel</h2>\n<p>{}, most time first, copies too.</p>\n<table><tr><th>kernel</th>"
      "<th class=\"wide\">group</th><th class=\"n\">n</th><th class=\"n\">us</th></tr>\n",
      which);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [name, amount] = rows[i];
    const std::string& text = view.recording.names()[name].text;
    const std::string shortened = trace::short_name(text);
    // Instances of one template are told apart by the whole name.
    const std::string whole = same[shortened] > 1 ? "<small>" + escaped(shorten(text)) + "</small>" : "";
    html += fmt::format(
        "<tr><td class=\"k\" title=\"{}\"><span class=\"dot g{}\"></span>{}{}</td><td class=\"wide\">{}</td>"
        "<td class=\"n\">{}</td><td class=\"n\">{:.3f}</td></tr>\n",
        escaped(text), view.groups[name], escaped(shortened), whole, escaped(view.rules.groups[view.groups[name]].name),
        amount.count, us(amount.sum_ns));
  }
  return html + "</table>\n";
}

}  // namespace

std::string html_page(const trace::Recording& recording, const trace::Rules& rules, const trace::Census& census,
                      const trace::Step& step, const std::vector<std::string>& notes) {
  const View view = view_of(recording, rules, step);
  return head(view) + facts(view, census, notes) + timeline(view) + bars(view, census) + kernel_table(view) +
         fmt::format("<p>census {} ({})</p>\n</body></html>\n", version(), commit());
}

}  // namespace bk::census
