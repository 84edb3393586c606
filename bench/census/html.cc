#include "html.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/version.h"
#include "trace/composition.h"
#include "trace/gaps.h"

namespace bk::census {
namespace {

constexpr double kWidth = 1200, kLane = 34, kLabel = 90, kBar = 22;

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

/// Hues a golden angle apart differ even between neighbours.
std::string color_of(std::size_t group) { return fmt::format("hsl({} 60% 48%)", (group * 137) % 360); }

std::string timeline(const trace::Recording& recording, const trace::Rules& rules, const trace::Step& step) {
  const auto groups = trace::groups_of_names(recording, rules);
  std::map<std::uint32_t, std::vector<trace::Slice>> lanes;
  for (const trace::Slice& slice : recording.sorted({trace::Kind::kKernel, trace::Kind::kMemop})) {
    if (slice.ts_ns < step.end_ns && slice.end_ns() > step.begin_ns) lanes[slice.stream].push_back(slice);
  }
  const double span = us(std::max<std::int64_t>(step.end_ns - step.begin_ns, 1)), scale = kWidth / span;
  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"timeline by stream\">\n",
                                kWidth + kLabel, kLane * static_cast<double>(lanes.size()) + 24);
  double y = 0;
  for (const auto& [stream, slices] : lanes) {
    svg += fmt::format("<text x=\"0\" y=\"{}\">{}</text>\n", y + 20, escaped(recording.streams()[stream].label()));
    for (const trace::Slice& slice : slices) {
      const double begin = us(std::max(slice.ts_ns, step.begin_ns) - step.begin_ns);
      const double length = us(std::min(slice.end_ns(), step.end_ns) - step.begin_ns) - begin;
      svg += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"><title>{}, {:.3f} us at "
          "{:.3f}</title></rect>\n",
          kLabel + begin * scale, y + 4, std::max(length * scale, 0.3), kLane - 8, color_of(groups[slice.name]),
          escaped(trace::short_name(recording.names()[slice.name].text)), us(slice.dur_ns), begin);
    }
    y += kLane;
  }
  svg += fmt::format("<text x=\"{}\" y=\"{}\">0</text><text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.1f} us</text>\n",
                     kLabel, y + 18, kLabel + kWidth, y + 18, span);
  return svg + "</svg>\n";
}

std::string bars(const trace::Rules& rules, const trace::Census& census) {
  const double most = census.groups.empty() ? 1 : std::max(us(census.groups.front().amount.sum_ns), 1e-9);
  const double steps = static_cast<double>(std::max<std::uint64_t>(census.steps, 1));
  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"time by group\">\n",
                                kWidth + kLabel, kBar * static_cast<double>(census.groups.size()) + 4);
  double y = 0;
  for (const auto& row : census.groups) {
    const auto group = std::find_if(rules.groups.begin(), rules.groups.end(),
                                    [&](const auto& candidate) { return candidate.name == row.group; });
    const double width = 0.7 * kWidth * us(row.amount.sum_ns) / most;
    svg += fmt::format(
        "<text x=\"0\" y=\"{}\">{}</text><rect x=\"{}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" "
        "fill=\"{}\"/><text x=\"{:.2f}\" y=\"{}\">{:.1f} us, {:.1f} kernels a step</text>\n",
        y + 15, escaped(row.group), kLabel, y + 2, width, kBar - 4,
        color_of(static_cast<std::size_t>(group - rules.groups.begin())), kLabel + width + 6, y + 15,
        us(row.amount.sum_ns) / steps, static_cast<double>(row.amount.count) / steps);
    y += kBar;
  }
  return svg + "</svg>\n";
}

}  // namespace

std::string html_page(const trace::Recording& recording, const trace::Rules& rules, const trace::Census& census,
                      const trace::Step& step) {
  std::string page = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n";
  page += fmt::format("<title>census of {}</title>\n", escaped(recording.source));
  page +=
      "<style>body{font:14px system-ui,sans-serif;margin:2em;max-width:1320px}svg{width:100%;height:auto;"
      "background:#f6f6f6}text{font-size:12px}rect:hover{stroke:#000}</style></head><body>\n";
  page += fmt::format("<h1>{}</h1>\n<p>{} kernels, {:.3f} us, {} steps, one {}</p>\n", escaped(recording.source),
                      census.kernels.count, us(census.kernels.sum_ns), census.steps, escaped(census.anchor_text));
  page += fmt::format("<h2>One step, by stream</h2>\n<p>{:.3f} us from {:.3f} us of the trace; names on hover.</p>\n",
                      us(step.end_ns - step.begin_ns), us(step.begin_ns));
  page += timeline(recording, rules, step);
  page += "<h2>Time a step, by group</h2>\n" + bars(rules, census);
  return page + fmt::format("<p>census {} ({})</p>\n</body></html>\n", version(), commit());
}

}  // namespace bk::census
