#pragma once
#include <string>

#include "base/json.h"

/// The request bodies of llama-benchy 0.4.0, member by member in its order.
namespace bk::benchy {

struct BodyOptions {
  bool no_cache = false;  ///< cache_prompt false
  bool exact_tg = false;  ///< min_tokens = max_tokens and ignore_eos
  Json extra_body;        ///< merged before the two of exact_tg; null: none
};

/// "Warmup " ten times: what its token count by the server and by the tokenizer differ in is the template's.
[[nodiscard]] std::string warmup_text();
/// Not streamed, one token. `with_system`: the text is the system message and the user says ".".
[[nodiscard]] Json warmup_body(const std::string& model, bool with_system);
[[nodiscard]] Json coherence_body(const std::string& model);
/// A streamed "hello" of one token: latency mode "generation".
[[nodiscard]] Json latency_body(const std::string& model);
/// A measured request; an empty `system` is left out.
[[nodiscard]] Json bench_body(const std::string& model, const std::string& system, const std::string& user, int tokens,
                              const BodyOptions& options);

}  // namespace bk::benchy
