#include "bracket/recorded.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/json.h"
#include "base/text.h"
#include "bracket/unit.h"

namespace bk::bracket {
namespace {

struct Line {
  std::int64_t boot = 0;
  stats::Arm arm = stats::Arm::kBase;
  std::string metric, cell;
  bool unit_stated = false;
  MetricName name;
  std::optional<double> value;
  stats::SampleValue sample;
};

/// Everything that one metric of one cell has collected so far.
struct Series {
  RecordedMetric out;
  Unit unit;
  std::string dimension;
};

Result<std::optional<double>> optional_number(const Json& doc, const char* key) {
  const Json& member = doc[key];
  if (member.is_null()) return std::optional<double>();
  const auto number = member.as_double();
  if (!number) return fail(Errc::kUsage, fmt::format("\"{}\" has to be a number or null", key));
  return number;
}

Status read_unit(const Json& doc, Line& line) {
  line.name = split_metric(line.metric);
  if (doc["unit"].is_null()) return {};
  const auto unit = doc["unit"].as_string();
  if (!unit) return fail(Errc::kUsage, "\"unit\" has to be text");
  line.name.unit = parse_unit(*unit);
  line.unit_stated = true;
  return {};
}

Result<Line> read_line(std::string_view text) {
  auto parsed = parse_json(text);
  if (!parsed) return fail(Errc::kUsage, parsed.error().what);
  const Json& doc = *parsed;
  if (!doc.is_object()) return fail(Errc::kUsage, "not a JSON object");
  Line line;
  const auto boot = doc["boot"].as_int();
  if (!boot) return fail(Errc::kUsage, "\"boot\" has to be a whole number: the place of the boot in time");
  line.boot = *boot;
  const auto arm = doc["arm"].as_string();
  if (arm != "base" && arm != "cand") return fail(Errc::kUsage, "\"arm\" has to be \"base\" or \"cand\"");
  line.arm = *arm == "base" ? stats::Arm::kBase : stats::Arm::kCand;
  const auto metric = doc["metric"].as_string();
  if (!metric || metric->empty()) return fail(Errc::kUsage, "\"metric\" has to be a name");
  line.metric = *metric;
  if (!doc["cell"].is_null()) {
    const auto cell = doc["cell"].as_string();
    if (!cell) return fail(Errc::kUsage, "\"cell\" has to be text");
    line.cell = *cell;
  }
  if (doc.find("value") == nullptr) return fail(Errc::kUsage, "\"value\" is missing (null when there was none)");
  BK_TRY(read_unit(doc, line));
  BK_ASSIGN(line.value, optional_number(doc, "value"));
  if (line.value && !(*line.value > 0)) {
    return fail(Errc::kUsage, "\"value\" has to be above 0, since effects are ratios (null when there was none)");
  }
  BK_ASSIGN(line.sample.acceptance, optional_number(doc, "acceptance"));
  BK_ASSIGN(line.sample.k_eff, optional_number(doc, "k_eff"));
  if (line.sample.acceptance && !(*line.sample.acceptance >= 0 && *line.sample.acceptance <= 1)) {
    return fail(Errc::kUsage, "\"acceptance\" is accepted / drafted tokens, between 0 and 1");
  }
  if (line.sample.k_eff && !(*line.sample.k_eff > 0)) return fail(Errc::kUsage, "\"k_eff\" has to be above 0");
  return line;
}

class Collector {
 public:
  explicit Collector(std::optional<stats::Better> better) : better_(better) {}

  Status add(const Line& line) {
    const auto [arm, is_new] = arms_.try_emplace(line.boot, line.arm);
    if (!is_new && arm->second != line.arm) {
      return fail(Errc::kUsage, fmt::format("boot {} has both arms: one boot runs one arm", line.boot));
    }
    BK_ASSIGN(Series* const series, series_of(line));
    if (!line.value) {
      ++series->out.without_value;
      return {};
    }
    stats::SampleValue sample = line.sample;
    sample.value = *line.value;
    if (line.name.unit.scale != series->unit.scale) sample.value *= line.name.unit.scale / series->unit.scale;
    auto& boots = series->out.boots;
    const auto order = static_cast<double>(line.boot);
    auto it = std::find_if(boots.begin(), boots.end(), [&](const auto& b) { return b.order == order; });
    if (it == boots.end()) it = boots.insert(boots.end(), {line.arm, order, {}});
    it->samples.push_back(sample);
    return {};
  }

  Result<Recorded> finish() {
    if (series_.empty()) return fail(Errc::kUsage, "no sample in the file; one JSON object a line is expected");
    Recorded out;
    for (Series& s : series_) {
      auto& boots = s.out.boots;
      std::sort(boots.begin(), boots.end(), [](const auto& a, const auto& b) { return a.order < b.order; });
      const auto has = [&](stats::Arm arm) {
        return std::any_of(boots.begin(), boots.end(), [&](const auto& b) { return b.arm == arm; });
      };
      const bool base = has(stats::Arm::kBase), cand = has(stats::Arm::kCand);
      if (base && cand) {
        out.metrics.push_back(std::move(s.out));
        continue;
      }
      out.unmatched.push_back({s.out.metric, s.out.cell, base ? stats::Arm::kCand : stats::Arm::kBase});
    }
    return out;
  }

  /// kUsage when a direction was given that no name needed and some name contradicts.
  [[nodiscard]] Status check_better() const {
    if (!better_ || decided_) return {};
    for (const Series& s : series_) {
      if (s.out.better == *better_) continue;
      const char* lower = "lower";
      const char* higher = "higher";
      const bool asked_lower = *better_ == stats::Better::kLower;
      return fail(Errc::kUsage, fmt::format("--better {} contradicts the name {}, of which {} is better: leave it out",
                                            asked_lower ? lower : higher, s.out.metric, asked_lower ? higher : lower));
    }
    return {};
  }

 private:
  Result<Series*> series_of(const Line& line) {
    const Unit& unit = line.name.unit;
    for (Series& s : series_) {
      if (s.out.cell != line.cell) continue;
      if (s.out.metric == line.metric && s.dimension != unit.dimension) {
        return fail(Errc::kUsage, fmt::format("{} is given in \"{}\" and in \"{}\", which do not convert", line.metric,
                                              s.unit.name, unit.name));
      }
      if (split_metric(s.out.metric).stem != line.name.stem || s.dimension != unit.dimension) continue;
      auto& others = s.out.converted_from;
      if (unit.scale != s.unit.scale && std::find(others.begin(), others.end(), unit.name) == others.end()) {
        others.push_back(unit.name);
      }
      return &s;
    }
    decided_ = decided_ || !unit.better;
    const auto better = unit.better ? unit.better : better_;
    if (!better) {
      return fail(Errc::kUsage, fmt::format("the name {} does not say which way is better: give --better lower|higher "
                                            "(names in _ms or _s are lower, in _per_s or tok_s higher)",
                                            line.metric));
    }
    Series s;
    s.out.metric = line.metric;
    s.out.cell = line.cell;
    s.out.unit = unit.name;
    s.out.better = *better;
    s.unit = unit;
    s.dimension = unit.dimension;
    series_.push_back(std::move(s));
    return &series_.back();
  }

  std::optional<stats::Better> better_;
  bool decided_ = false;  ///< some name left it to better_
  std::map<std::int64_t, stats::Arm> arms_;
  std::vector<Series> series_;
};

}  // namespace

Result<Recorded> parse_recorded(std::string_view jsonl, std::optional<stats::Better> better) {
  Collector collector(better);
  int number = 0;
  for (const std::string_view text : split_lines(jsonl)) {
    ++number;
    if (trim(text).empty()) continue;
    auto line = read_line(trim(text));
    Status added;
    if (line) added = collector.add(*line);
    if (!line || !added) {
      Error error = line ? added.error() : line.error();
      error.where = fmt::format("line {}", number);
      return fail(std::move(error));
    }
  }
  BK_TRY(collector.check_better());
  return collector.finish();
}

}  // namespace bk::bracket
