#include "leg/streamgap.h"

#include <fmt/format.h>

#include "engine/body.h"
#include "leg/cold.h"
#include "leg/prompt_maker.h"
#include "leg/round.h"
#include "load/prompts.h"

namespace bk::leg {
namespace {

void fill_phases(load::Sample* sample) {
  const auto disturbance = disturbance_of(sample->requests[0], sample->requests[1]);
  if (!disturbance) {
    const bool failed = disturbance.error().code == Errc::kServer;
    const auto none = stream::Figure::none(failed ? "request_failed" : "ingest_outside_stream");
    for (const char* name : {"before", "during", "after"}) {
      sample->metrics[std::string(name) + "_tok_s"] = none;
      sample->metrics[std::string(name) + "_gap_max_ms"] = none;
    }
    return;
  }
  for (const Phase& phase : disturbance->phases) {
    sample->metrics[phase.name + "_tok_s"] = phase.tok_s;
    sample->metrics[phase.name + "_gap_max_ms"] = phase.gap_max_ms;
  }
}

}  // namespace

Status run_streamgap(http::Transport& transport, const engine::Endpoint& endpoint, const StreamgapPlan& plan,
                     Sink& sink) {
  if (plan.context_limit && plan.ingest_tokens >= *plan.context_limit) {
    return fail(Errc::kUsage, fmt::format("the server holds {} tokens, not a prefill of {}: ask for fewer",
                                          *plan.context_limit, plan.ingest_tokens));
  }
  const std::uint64_t seed = load::seed_or_new(plan.seed);
  sink.progress("streamgap", 0, 1);
  engine::Generation stream;
  stream.prompt = load::decode_prompt(seed);
  stream.max_tokens = plan.max_tokens;
  stream.temperature = 0.95;
  stream.ignore_eos = true;
  stream.thinking_off = true;
  engine::Generation ingest;
  PromptMaker prompts(transport, endpoint);
  BK_ASSIGN(ingest.prompt, prompts.make(plan.ingest_tokens, seed));
  ingest.max_tokens = 1;
  ingest.thinking_off = true;

  Round round{"streamgap", "ingest=" + tokens_label(plan.ingest_tokens), 2, 0, false, {}};
  const http::Timeouts timeouts{.total = plan.request_timeout};
  round.requests.push_back({engine::make_request(endpoint, stream, timeouts), 0, plan.max_tokens});
  round.requests.push_back({engine::make_request(endpoint, ingest, timeouts), plan.ingest_after, {}});
  BK_ASSIGN(load::Sample sample, run_round(transport, endpoint, std::move(round), plan.stopped));
  fill_phases(&sample);
  BK_TRY(sink.sample(sample));
  sink.progress("streamgap", 1, 1);
  return {};
}

}  // namespace bk::leg
