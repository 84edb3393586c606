#include "bracket/unit.h"

#include <array>

#include "base/text.h"

namespace bk::bracket {
namespace {

struct TimeUnit {
  const char* name;
  double seconds;
};
constexpr std::array<TimeUnit, 4> kTimes{{{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}}};

bool strip(std::string& text, const std::string& suffix) {
  if (text.size() < suffix.size() || text.compare(text.size() - suffix.size(), suffix.size(), suffix) != 0)
    return false;
  text.resize(text.size() - suffix.size());
  return true;
}

Unit rate(const std::string& name) { return {name, name, 1, stats::Better::kHigher}; }

}  // namespace

MetricName split_metric(const std::string& metric) {
  MetricName out{metric, {}};
  if (metric == "tok_s" || strip(out.stem, "_tok_s")) {
    out.unit = rate("tok/s");
    return out;
  }
  if (strip(out.stem, "_per_s")) {
    out.unit = rate("/s");
    return out;
  }
  for (const TimeUnit& time : kTimes) {
    if (strip(out.stem, std::string("_") + time.name)) {
      out.unit = parse_unit(time.name);
      return out;
    }
  }
  return out;
}

Unit parse_unit(const std::string& text) {
  const std::string name = text == "µs" ? "us" : text;
  for (const TimeUnit& time : kTimes) {
    if (name == time.name) return {name, "time", time.seconds, stats::Better::kLower};
  }
  if (name == "tok_s" || name == "t/s" || name == "tokens/s") return rate("tok/s");
  if (name.size() > 2 && name.compare(name.size() - 2, 2, "/s") == 0) return rate(name);
  return {name, name, 1, std::nullopt};
}

}  // namespace bk::bracket
