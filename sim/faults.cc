#include "faults.h"

#include <functional>
#include <map>

#include "base/text.h"

namespace bk::sim {
namespace {

struct Rule {
  int fallback;  // the argument when none is given
  std::function<void(Faults&, int)> set;
};

const std::map<std::string, Rule>& rules() {
  static const std::map<std::string, Rule> all = {
      {"role-only-first", {1, [](Faults& f, int) { f.role_only_first = true; }}},
      {"empty-chunks", {1, [](Faults& f, int) { f.empty_chunks = true; }}},
      {"crlf", {1, [](Faults& f, int) { f.crlf = true; }}},
      {"missing-usage", {1, [](Faults& f, int) { f.missing_usage = true; }}},
      {"empty-200", {1, [](Faults& f, int) { f.empty_200 = true; }}},
      {"dead-metrics", {1, [](Faults& f, int) { f.dead_metrics = true; }}},
      {"wrong-model", {1, [](Faults& f, int) { f.wrong_model = true; }}},
      {"error-in-200", {3, [](Faults& f, int n) { f.error_in_200 = n; }}},
      {"cut", {3, [](Faults& f, int n) { f.cut = n; }}},
      {"stall", {1000, [](Faults& f, int n) { f.stall_ms = n; }}},
      {"slow-headers", {1000, [](Faults& f, int n) { f.slow_headers_ms = n; }}},
      {"restart", {1, [](Faults& f, int n) { f.restart_after = n; }}},
      {"die", {1, [](Faults& f, int n) { f.die_after = n; }}},
      {"429", {1, [](Faults& f, int n) { f.reject_429 = n; }}},
      {"503", {1, [](Faults& f, int n) { f.reject_503 = n; }}},
      {"engines", {2, [](Faults& f, int n) { f.engines = n < 1 ? 1 : n; }}},
  };
  return all;
}

}  // namespace

Result<Faults> parse_faults(const std::vector<std::string>& words) {
  Faults faults;
  std::vector<std::string> names;
  for (const auto& [name, rule] : rules()) names.push_back(name);
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto rule = rules().find(name);
    if (rule == rules().end()) {
      const auto meant = nearest(name, names);
      return fail(Errc::kUsage,
                  meant ? fmt::format("unknown fault; did you mean {}?", *meant)
                        : fmt::format("unknown fault; one of {}", join(names, ", ")),
                  word);
    }
    std::optional<std::int64_t> argument = rule->second.fallback;
    if (equals != std::string::npos) argument = parse_int(word.substr(equals + 1));
    if (!argument || *argument < 0 || *argument > 1'000'000)
      return fail(Errc::kUsage, "a fault's argument is a whole number", word);
    rule->second.set(faults, static_cast<int>(*argument));
  }
  return faults;
}

}  // namespace bk::sim
