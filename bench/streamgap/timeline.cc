#include "timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bk::streamgap {
namespace {

double highest(const Timeline& timeline) {
  const auto most = std::max_element(timeline.rates.begin(), timeline.rates.end());
  return most == timeline.rates.end() || *most <= 0 ? 1 : *most;
}

/// Overlaps the slice with the ingest?
bool in_ingest(const Timeline& timeline, std::size_t slice) {
  const Nanos begin = static_cast<Nanos>(slice) * timeline.slice;
  return begin < timeline.ingest_end && begin + timeline.slice > timeline.ingest_begin;
}

}  // namespace

Timeline timeline_of(const stream::RequestRecord& stream, const leg::Disturbance& disturbance, int slices) {
  Timeline timeline;
  timeline.ingest_begin = disturbance.ingest_begin;
  timeline.ingest_end = disturbance.ingest_end;
  const Nanos whole = stream.events.back().at;
  timeline.slice = std::max<Nanos>(1, whole / slices + 1);
  timeline.rates.resize(static_cast<std::size_t>(slices), 0);
  timeline.tokens =
      std::all_of(stream.events.begin(), stream.events.end(), [](const auto& event) { return event.tokens >= 0; });
  for (const stream::TokenEvent& event : stream.events) {
    const auto slice = static_cast<std::size_t>(std::clamp<Nanos>(event.at / timeline.slice, 0, slices - 1));
    timeline.rates[slice] += (timeline.tokens ? event.tokens : 1) / to_s(timeline.slice);
  }
  return timeline;
}

std::string ascii(const Timeline& timeline, int height) {
  const double top = highest(timeline);
  std::string text;
  for (int line = height; line > 0; --line) {
    text += line == height ? fmt::format("{:>7.0f} |", top) : std::string(8, ' ') + "|";
    for (const double rate : timeline.rates) text += rate > top * (line - 1) / height ? '#' : ' ';
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  text += fmt::format("{:>7} +", timeline.tokens ? "tok/s" : "ev/s");
  for (std::size_t i = 0; i < timeline.rates.size(); ++i) text += in_ingest(timeline, i) ? '=' : '-';
  const Nanos whole = timeline.slice * static_cast<Nanos>(timeline.rates.size());
  return text + fmt::format("\n         0 s to {:.2f} s, = the other request's prefill\n", to_s(whole));
}

std::string svg(const Timeline& timeline) {
  constexpr double kWidth = 800, kHeight = 240, kLeft = 60, kTop = 20;
  const double top = highest(timeline);
  const auto count = static_cast<double>(timeline.rates.size());
  const double whole = static_cast<double>(timeline.slice) * count;
  const auto x_of = [&](Nanos at) { return kLeft + kWidth * std::min(1.0, static_cast<double>(at) / whole); };
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      kLeft + kWidth + 20, kTop + kHeight + 40);
  text +=
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{:.0f}\" fill=\"#fde3c8\"/>\n",
                  x_of(timeline.ingest_begin), kTop, x_of(timeline.ingest_end) - x_of(timeline.ingest_begin), kHeight);
  for (std::size_t i = 0; i < timeline.rates.size(); ++i) {
    const double tall = kHeight * timeline.rates[i] / top;
    text += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#2b6cb0\"/>\n",
                        kLeft + kWidth * static_cast<double>(i) / count, kTop + kHeight - tall,
                        std::max(0.5, kWidth / count - 1), tall);
  }
  text += fmt::format("<text x=\"4\" y=\"{:.0f}\">{:.0f} {}</text>\n", kTop + 10, top,
                      timeline.tokens ? "tok/s" : "events/s");
  text += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">0 s</text>\n", kLeft, kTop + kHeight + 16);
  text += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{:.2f} s</text>\n", kLeft + kWidth,
                      kTop + kHeight + 16, whole / 1e9);
  return text + fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\">shaded: another request's prefill</text>\n</svg>\n", kLeft,
                            kTop + kHeight + 32);
}

}  // namespace bk::streamgap
