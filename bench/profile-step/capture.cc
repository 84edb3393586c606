#include "capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "engine/body.h"
#include "engine/metrics_client.h"
#include "load/prompts.h"
#include "trace/recording.h"

namespace bk::profile_step {
namespace {

constexpr Nanos kProfilerLimit = 600 * kSecond;
constexpr Nanos kRequestLimit = 1800 * kSecond;

Status post_profiler(http::Transport& transport, const engine::Endpoint& endpoint, const std::string& path) {
  BK_ASSIGN(const http::Response response,
            http::fetch(transport, engine::plain_request(endpoint, path, Json::object(), {.total = kProfilerLimit})));
  if (response.status >= 200 && response.status < 300) return {};
  if (response.status == 404 || response.status == 405) {
    return fail(
        Errc::kUnavailable,
        fmt::format("the server has no {} (HTTP {}); boot it with its profiler configuration (a serve argument)", path,
                    response.status),
        endpoint.base_url);
  }
  return fail(Errc::kHttp, fmt::format("{}: HTTP {}: {}", path, response.status, engine::error_message(response.body)),
              endpoint.base_url);
}

engine::Generation generation_of(const Work& work) {
  engine::Generation generation;
  if (work.prefill) {
    generation.prompt =
        load::prefill_prompt(load::Vocabulary::kEnglish20, load::words_for_tokens(work.tokens), work.seed);
    generation.max_tokens = 1;
  } else {
    generation.prompt = load::decode_prompt(work.seed);
    generation.max_tokens = static_cast<int>(work.tokens);
  }
  generation.thinking_off = true;
  generation.stream = false;
  return generation;
}

Result<Traced> send(http::Transport& transport, const engine::Endpoint& endpoint, const Work& work) {
  BK_ASSIGN(const http::Response response,
            http::fetch(transport, engine::make_request(endpoint, generation_of(work), {.total = kRequestLimit})));
  if (response.status != 200) {
    return fail(Errc::kHttp,
                fmt::format("the request: HTTP {}: {}", response.status, engine::error_message(response.body)),
                endpoint.base_url);
  }
  BK_ASSIGN(const Json body, parse_json(response.body));
  const auto prompt = body["usage"]["prompt_tokens"].as_int(), completion = body["usage"]["completion_tokens"].as_int();
  if (!prompt || !completion) return fail(Errc::kParse, "the reply has no usage", endpoint.base_url);
  Traced traced;
  traced.prompt_tokens = *prompt;
  traced.completion_tokens = *completion;
  return traced;
}

void count_steps(Traced& traced, const Work& work, std::int64_t batched_tokens) {
  if (work.prefill) {
    traced.steps = (traced.prompt_tokens + batched_tokens - 1) / batched_tokens;
    traced.steps_basis = "prompt / batched tokens";
  } else if (traced.drafts && *traced.drafts >= 1) {
    traced.steps = static_cast<std::int64_t>(*traced.drafts);
    traced.steps_basis = "drafts";
  } else {
    traced.steps = traced.completion_tokens;
    traced.steps_basis = "completion tokens";
  }
}

bool is_trace(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

}  // namespace

Result<Work> parse_work(const std::string& text) {
  constexpr std::int64_t kDefaultContext = 32'000, kMost = 10'000'000;
  Work work;
  const std::size_t colon = text.find(':');
  const std::string head = text.substr(0, colon), tail = colon == std::string::npos ? "" : text.substr(colon + 1);
  std::optional<std::int64_t> tokens = parse_int(tail);
  if (colon == std::string::npos) tokens = head == "prefill" ? kDefaultContext : parse_int(head);
  work.prefill = head == "prefill" || (colon == std::string::npos && head != "decode");
  const bool known = work.prefill || head == "decode";
  if (!known || !tokens || *tokens < 1 || *tokens > kMost) {
    return fail(Errc::kUsage, "what to trace is prefill, prefill:TOKENS or decode:TOKENS", text);
  }
  work.tokens = *tokens;
  return work;
}

Result<Traced> trace_request(http::Transport& transport, const engine::Endpoint& endpoint, const Work& work,
                             std::int64_t batched_tokens) {
  const auto before = engine::fetch_counters(transport, endpoint);
  BK_TRY(post_profiler(transport, endpoint, "/start_profile"));
  auto traced = send(transport, endpoint, work);
  const auto stopped = post_profiler(transport, endpoint, "/stop_profile");
  if (!traced) return traced;
  if (!stopped) return fail(stopped.error());
  const auto after = engine::fetch_counters(transport, endpoint);
  if (before && after && engine::continuity_between(*before, *after).unbroken() && before->drafts && after->drafts) {
    traced->drafts = *after->drafts - *before->drafts;
  }
  count_steps(*traced, work, batched_tokens);
  return traced;
}

Result<TraceFolder> TraceFolder::look(const std::string& path) {
  TraceFolder folder;
  folder.path_ = path;
  BK_ASSIGN(folder.seen_, folder.entries());
  return folder;
}

Result<std::vector<TraceFolder::Entry>> TraceFolder::entries() const {
  std::error_code code;
  std::vector<Entry> found;
  std::filesystem::directory_iterator at(path_, code);
  if (code) return fail(Errc::kIo, "cannot read the trace folder: " + code.message(), path_);
  for (; at != std::filesystem::directory_iterator(); at.increment(code)) {
    std::error_code gone;
    const auto size = at->file_size(gone);
    const auto time = at->last_write_time(gone);
    if (gone || !is_trace(at->path())) continue;
    found.push_back({at->path().string(), size, time.time_since_epoch().count()});
  }
  std::sort(found.begin(), found.end(), [](const Entry& a, const Entry& b) { return a.path < b.path; });
  return found;
}

Result<std::vector<TraceFolder::Entry>> TraceFolder::fresh() const {
  BK_ASSIGN(std::vector<Entry> now, entries());
  std::erase_if(now, [&](const Entry& entry) { return std::find(seen_.begin(), seen_.end(), entry) != seen_.end(); });
  return now;
}

Result<std::string> TraceFolder::wait_for_trace(Nanos settle, Nanos limit, Clock& clock) const {
  const Nanos end = clock.now() + limit;
  std::vector<Entry> last;
  std::string unreadable;
  while (clock.now() < end) {
    BK_ASSIGN(const std::vector<Entry> now, fresh());
    for (const Entry& entry : now) {
      if (std::find(last.begin(), last.end(), entry) == last.end()) continue;
      // A file that stands still may yet be half written, or be of a process without a GPU: the next look tells.
      const auto recording = trace::record_file(entry.path);
      if (recording) return entry.path;
      unreadable = recording.error().text();
    }
    last = now;
    clock.sleep_until(clock.now() + settle);
  }
  return fail(Errc::kTimeout,
              fmt::format("no finished trace with GPU kernels appeared in {:.0f} s{}", to_s(limit),
                          unreadable.empty() ? "" : "; the last: " + unreadable),
              path_);
}

}  // namespace bk::profile_step
