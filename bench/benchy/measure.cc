#include "measure.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "engine/body.h"
#include "formulas.h"
#include "load/aggregate.h"
#include "load/runner.h"
#include "prompts.h"
#include "stream/figures.h"

namespace bk::benchy {
namespace {

constexpr int kLatencyProbes = 3;
constexpr Nanos kEarlyEvent = 50 * kMillisecond;

struct Prompt {
  std::string system, user;
  std::int64_t expected_tokens = 0;
};

void append(std::vector<double>& to, const std::vector<double>& from) { to.insert(to.end(), from.begin(), from.end()); }
void append(std::vector<double>& to, const std::optional<double>& value) {
  if (value) to.push_back(*value);
}

void add_correct(const stream::RequestRecord& record, Benchmark& row) {
  append(row.prefill_tok_s, record.prefill_tok_s.value);
  append(row.decode_tok_s, record.decode_tok_s.value);
  if (record.decode_tok_s.value) {
    const std::string basis = stream::to_string(record.decode_basis);
    row.decode_basis = row.decode_basis.empty() || row.decode_basis == basis ? basis : "mixed";
  }
  if (record.decode_tok_s.reason == stream::kTooFast || record.burst) ++row.at_once;
  if (record.usage && record.usage->cached_tokens.value_or(0) > 0) ++row.cached;
  if (record.ttfr && record.ttft && *record.ttft - *record.ttfr > kEarlyEvent) row.empty_first_event = true;
}

void add_batch(const std::vector<stream::RequestRecord>& records, const std::vector<Prompt>& prompts, double latency_s,
               Benchmark& row) {
  std::vector<Observed> observed;
  std::vector<double> times;
  for (std::size_t i = 0; i < records.size(); ++i) {
    ++row.requests;
    if (!records[i].ok()) {
      ++row.failed;
      if (row.first_failure.empty()) row.first_failure = records[i].reason;
      continue;
    }
    observed.push_back(observe(records[i], prompts[i].expected_tokens));
    append(times, token_times(observed.back()));
    add_correct(records[i], row);
  }
  if (observed.size() != records.size()) return;  // a batch with a failed request had another load: no figures
  const BatchFigures batch = figures_of(observed, latency_s);
  append(row.pp_total, batch.pp_total);
  append(row.pp_req, batch.pp_req);
  append(row.tg_total, batch.tg_total);
  append(row.tg_req, batch.tg_req);
  append(row.peak_total, batch.peak_total);
  append(row.peak_req, batch.peak_req);
  append(row.ttfr_ms, batch.ttfr_ms);
  append(row.est_ppt_ms, batch.est_ppt_ms);
  append(row.e2e_ttft_ms, batch.e2e_ttft_ms);
  append(row.true_peak_tok_s, true_peak(std::move(times)));
}

class Measurement {
 public:
  Measurement(http::Transport& transport, const engine::Endpoint& endpoint, const Plan& plan, leg::Sink& sink,
              PromptMaker maker)
      : transport_(transport), endpoint_(endpoint), plan_(plan), sink_(sink), maker_(std::move(maker)) {}

  Status coherence() {
    BK_ASSIGN(const Json answer, post_chat(transport_, endpoint_, coherence_body(endpoint_.model)));
    std::string text;
    for (const Json& choice : answer["choices"].items()) {
      for (const char* key : {"content", "reasoning", "reasoning_content"}) {
        text += choice["message"][key].as_string().value_or("");
      }
    }
    if (to_lower(text).find("paris") != std::string::npos) return {};
    return fail(Errc::kFailed,
                "the model does not name the capital of France; --skip-coherence measures it all the same",
                endpoint_.base_url);
  }

  Status latency() {
    double sum_s = 0;
    for (int i = 0; i < kLatencyProbes && plan_.latency_mode != "none"; ++i) {
      BK_ASSIGN(const double one_s, plan_.latency_mode == "api" ? api_latency_s() : generation_latency_s());
      sum_s += one_s;
    }
    latency_s_ = sum_s / kLatencyProbes;
    return {};
  }

  Status grid() {
    for (const std::int64_t depth : plan_.depth) {
      for (const std::int64_t pp : plan_.pp) {
        for (const std::int64_t tg : plan_.tg) {
          for (const std::int64_t concurrency : plan_.concurrency) {
            BK_TRY(cell(depth, pp, static_cast<int>(tg), static_cast<int>(concurrency)));
          }
        }
      }
    }
    return {};
  }

  Outcome outcome() { return {latency_s_ * 1e3, maker_.sized_by(), std::move(rows_)}; }

 private:
  Result<double> api_latency_s() {
    const Nanos before = monotonic_now();
    BK_ASSIGN(const http::Response response, http::fetch(transport_, engine::plain_request(endpoint_, "/v1/models")));
    return to_s(monotonic_now() - before);
  }

  Result<double> generation_latency_s() {
    load::Run run = load::run_requests(transport_, {{request(latency_body(endpoint_.model)), 0, {}}});
    const stream::RequestRecord& record = run.requests.front();
    if (record.ttfr) return to_s(*record.ttfr);
    return fail(Errc::kServer, "the latency request failed: " + record.reason, endpoint_.base_url);
  }

  [[nodiscard]] http::Request request(const Json& body) const {
    return engine::plain_request(endpoint_, engine::path_of(engine::Api::kChat), body, {.total = 1800 * kSecond});
  }

  Status cell(std::int64_t depth, std::int64_t pp, int tg, int concurrency) {
    Benchmark row;
    row.concurrency = concurrency;
    row.context_size = depth;
    row.prompt_size = pp;
    row.response_size = tg;
    Benchmark context_row = row;
    context_row.is_context = true;
    const bool prefix = plan_.prefix_caching && depth > 0;
    const std::string name = fmt::format("pp{} tg{} d{} c{}", pp, tg, depth, concurrency);
    for (int i = 0; i <= plan_.runs; ++i) {
      sink_.progress("benchy " + name, i, plan_.runs + 1);
      std::vector<Prompt> prompts, contexts;
      for (int c = 0; c < concurrency; ++c) {
        BK_ASSIGN(Prompt prompt, make_prompt(depth, pp, prefix));
        if (prefix) contexts.push_back({prompt.system, ".", depth - maker_.delta_context()});
        prompts.push_back(std::move(prompt));
      }
      if (prefix) BK_TRY(batch(contexts, tg, i, "ctx " + name, context_row));
      BK_TRY(batch(prompts, tg, i, name, row));
    }
    sink_.progress("benchy " + name, plan_.runs + 1, plan_.runs + 1);
    if (prefix) rows_.push_back(std::move(context_row));
    rows_.push_back(std::move(row));
    return {};
  }

  Result<Prompt> make_prompt(std::int64_t depth, std::int64_t pp, bool prefix) {
    Prompt prompt;
    std::int64_t user_tokens = depth > 0 ? pp : pp - maker_.delta_user();
    prompt.expected_tokens = user_tokens;
    if (depth > 0) {
      const std::int64_t system_tokens = depth - maker_.delta_context();
      BK_ASSIGN(prompt.system, maker_.text(system_tokens));
      if (!prefix) prompt.expected_tokens += system_tokens;
    }
    std::string suffix;
    if (plan_.body.no_cache) {
      BK_ASSIGN(const auto unique, maker_.unique_suffix());
      suffix = unique.first;
      user_tokens -= unique.second;
    }
    BK_ASSIGN(prompt.user, maker_.text(user_tokens));
    prompt.user += suffix;
    return prompt;
  }

  Status batch(const std::vector<Prompt>& prompts, int tg, int index, const std::string& name, Benchmark& row) {
    std::vector<load::PlannedRequest> planned;
    for (const Prompt& prompt : prompts) {
      load::PlannedRequest one{request(bench_body(endpoint_.model, prompt.system, prompt.user, tg, plan_.body)), 0, {}};
      if (plan_.body.exact_tg) one.expected_tokens = tg;
      planned.push_back(std::move(one));
    }
    load::RunOptions options;
    options.stopped = plan_.stopped;
    load::Sample sample;
    load::take_run(load::run_requests(transport_, std::move(planned), options), &sample);
    if (plan_.stopped && plan_.stopped()) return fail(Errc::kInterrupted, "stopped during a batch", name);
    sample.leg = "benchy";
    sample.cell = name;
    sample.concurrency = row.concurrency;
    sample.warmup = index == 0;
    sample.index = sample.warmup ? 0 : index - 1;
    sample.acceptance.reason = "not_read";
    load::fill_metrics(&sample);
    if (!sample.warmup) add_batch(sample.requests, prompts, latency_s_, row);
    return sink_.sample(sample);
  }

  http::Transport& transport_;
  const engine::Endpoint& endpoint_;
  const Plan& plan_;
  leg::Sink& sink_;
  PromptMaker maker_;
  double latency_s_ = 0;
  std::vector<Benchmark> rows_;
};

}  // namespace

Result<Outcome> measure(http::Transport& transport, const engine::Endpoint& endpoint, const Plan& plan,
                        leg::Sink& sink) {
  BK_ASSIGN(PromptMaker maker, PromptMaker::make(transport, endpoint, plan.tokenizer, plan.adapt, plan.seed));
  Measurement measurement(transport, endpoint, plan, sink, maker);
  if (plan.coherence) BK_TRY(measurement.coherence());
  BK_TRY(measurement.latency());
  BK_TRY(measurement.grid());
  return measurement.outcome();
}

}  // namespace bk::benchy
