#include "delta.h"

#include <utility>

namespace bk::metrics_delta {
namespace {

using engine::Counters;
using Slot = std::optional<double> Counters::*;

struct Named {
  const char* name;
  Slot slot;
  bool counter;
};

constexpr Named kLines[] = {
    {"drafts", &Counters::drafts, true},
    {"draft_tokens", &Counters::draft_tokens, true},
    {"accepted_tokens", &Counters::accepted_tokens, true},
    {"generation_tokens", &Counters::generation_tokens, true},
    {"generation_s", &Counters::generation_s, true},
    {"prompt_tokens", &Counters::prompt_tokens, true},
    {"prompt_s", &Counters::prompt_s, true},
    {"engine_steps", &Counters::engine_steps, true},
    {"running", &Counters::running, false},
    {"waiting", &Counters::waiting, false},
    {"n_busy_slots_per_decode", &Counters::busy_slots, false},
};

std::optional<double> value_of(const Page& page, Slot slot) {
  return page.counters ? (*page.counters).*slot : std::nullopt;
}

}  // namespace

Delta delta_of(Page before, Page after) {
  Delta delta;
  const bool both = before.counters && after.counters;
  if (both) {
    delta.continuity = engine::continuity_between(*before.counters, *after.counters);
    delta.rates = engine::rates_between(*before.counters, *after.counters);
  } else {
    delta.rates = {stream::Figure::none("metrics_unavailable"), stream::Figure::none("metrics_unavailable")};
  }
  delta.acceptance = engine::acceptance_between(before.counters, after.counters);
  for (const Named& named : kLines) {
    Line line{named.name, named.counter, value_of(before, named.slot), value_of(after, named.slot), {}};
    line.delta = both ? engine::delta_between(line.before, line.after, delta.continuity)
                      : stream::Figure::none("metrics_unavailable");
    delta.lines.push_back(std::move(line));
  }
  delta.before = std::move(before);
  delta.after = std::move(after);
  return delta;
}

}  // namespace bk::metrics_delta
