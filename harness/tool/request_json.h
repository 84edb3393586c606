#pragma once
#include "base/json.h"
#include "engine/acceptance.h"
#include "stream/record.h"

namespace bk::tool {

/// One request whole, in the field names of every JSON output: status and reason, ttfr_ms, ttft_ms, first_answer_ms,
/// completion_tokens, decode_tok_s … A missing number is null, and `<name>_reason` beside it says why where the client
/// knows.
[[nodiscard]] Json request_json(const stream::RequestRecord& record);

/// {"raw", "legacy", "tokens_per_step", "k_eff", "per_position", "drafts", "draft_tokens", "accepted"}, or null.
[[nodiscard]] Json acceptance_json(const engine::AcceptanceDelta& delta);

}  // namespace bk::tool
