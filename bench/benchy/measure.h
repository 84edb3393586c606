#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bodies.h"
#include "engine/endpoint.h"
#include "http/transport.h"
#include "leg/sink.h"
#include "load/tokenizer_json.h"

namespace bk::benchy {

struct Plan {
  std::vector<std::int64_t> pp = {2048}, tg = {32}, depth = {0}, concurrency = {1};
  int runs = 3;                      ///< measured batches of a row; one more before them is discarded
  std::string latency_mode = "api";  ///< "api", "generation" or "none"
  bool coherence = true;             ///< ask for the capital of France first
  bool adapt = true;                 ///< take the chat template's tokens out of the prompts
  bool prefix_caching = false;       ///< load the context in a request of its own, then ask on it
  BodyOptions body;
  std::optional<load::TokenizerJson> tokenizer;  ///< sizes the prompts in the server's stead
  std::uint64_t seed = 1;
  std::function<bool()> stopped;
};

/// One row of the grid: llama-benchy's figures, a value a run or a request, and the correct ones.
struct Benchmark {
  int concurrency = 1;
  std::int64_t context_size = 0, prompt_size = 0, response_size = 0;
  bool is_context = false;  ///< the load of the context, in prefix-caching mode
  std::vector<double> pp_total, pp_req, tg_total, tg_req, peak_total, peak_req, ttfr_ms, est_ppt_ms, e2e_ttft_ms;
  std::vector<double> prefill_tok_s, decode_tok_s, true_peak_tok_s;  ///< DESIGN section 4
  std::string decode_basis;                                          ///< "exact", "n_minus_1", "mixed", "" for none
  int requests = 0, failed = 0, cached = 0;  ///< cached: requests of whose prompt a part came from a cache
  std::string first_failure;
  int at_once = 0;                 ///< answers that came faster than any engine decodes: held back, sent at once
  bool empty_first_event = false;  ///< the first event bore no token and came long before one: ttfr is no prefill time
};

struct Outcome {
  double latency_ms = 0;
  std::string sized_by;  ///< "tokenizer.json", "tokenize" or "usage"
  std::vector<Benchmark> benchmarks;
};

/// Runs the requests in llama-benchy's order: two warm-ups, coherence, latency, then for each depth, pp, tg and
/// concurrency one discarded batch and `runs` measured ones; each batch is a sample to the sink. kFailed when the
/// coherence question is answered wrongly, kInterrupted, the sink's errors.
[[nodiscard]] Result<Outcome> measure(http::Transport& transport, const engine::Endpoint& endpoint, const Plan& plan,
                                      leg::Sink& sink);

}  // namespace bk::benchy
