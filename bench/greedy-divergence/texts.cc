#include "texts.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/body.h"
#include "load/runner.h"
#include "tool/session.h"

namespace bk::greedy_divergence {
namespace {

/// Calls `take` with every line's object and its place; blank lines are skipped.
Status each_line(const std::string& path, const std::function<Status(const Json&, const std::string&)>& take) {
  BK_ASSIGN(const std::string bytes, read_file(path));
  int number = 0;
  for (const std::string_view line : split_lines(bytes)) {
    ++number;
    if (trim(line).empty()) continue;
    const std::string where = fmt::format("{}:{}", path, number);
    const auto json = parse_json(line);
    if (!json) return fail(Errc::kUsage, "not a line of JSON: " + json.error().what, where);
    BK_TRY(take(*json, where));
  }
  return {};
}

}  // namespace

const std::vector<std::string>& default_prompts() {
  static const std::vector<std::string> kPrompts = {
      "Explain why the sky is blue at noon and red in the evening.",
      "Describe how a paper mill turns wood into paper, step by step.",
      "Write a story about a lighthouse keeper who finds a map.",
      "Explain to a beginner what a hash table is and when to use one.",
      "Compare travelling by train and by ship across a continent.",
      "Describe how bread dough rises and what can go wrong.",
      "Explain how a refrigerator moves heat.",
      "Write a letter to a friend about a week spent in the mountains.",
      "바다의 밀물과 썰물이 생기는 까닭을 쉽게 설명해 주세요.",
      "처음 자전거를 배우는 아이에게 순서대로 알려 주세요.",
      "시골 장터에서 보낸 하루를 이야기로 써 주세요.",
      "겨울에 집을 따뜻하게 지내는 방법을 자세히 소개해 주세요.",
  };
  return kPrompts;
}

Result<std::vector<std::string>> read_prompts(const std::string& path) {
  std::vector<std::string> prompts;
  BK_TRY(each_line(path, [&prompts](const Json& line, const std::string& where) -> Status {
    const auto prompt = line["prompt"].as_string();
    if (!prompt || prompt->empty()) return fail(Errc::kUsage, "a line needs a \"prompt\"", where);
    prompts.push_back(*prompt);
    return {};
  }));
  if (prompts.empty()) return fail(Errc::kUsage, "no prompt in the file", path);
  return prompts;
}

Result<Texts> read_texts(const std::string& path) {
  Texts texts;
  BK_TRY(each_line(path, [&texts](const Json& line, const std::string& where) -> Status {
    const auto prompt = line["prompt"].as_string();
    const auto text = line["text"].as_string();
    if (!prompt || !text) return fail(Errc::kUsage, R"(a line needs "prompt" and "text")", where);
    if (!texts.emplace(*prompt, *text).second) return fail(Errc::kUsage, "a prompt stands twice", where);
    return {};
  }));
  if (texts.empty()) return fail(Errc::kUsage, "no text in the file", path);
  return texts;
}

std::string to_jsonl(const Texts& texts) {
  std::string lines;
  for (const auto& [prompt, text] : texts) {
    lines += Json::object().set("prompt", prompt).set("text", text).dump() + "\n";
  }
  return lines;
}

Result<Texts> ask_texts(const cli::Connection& connection, const Ask& ask) {
  BK_ASSIGN(const tool::Server server, tool::reach(connection));
  Texts texts;
  for (const std::string& prompt : ask.prompts) {
    engine::Generation generation;
    generation.prompt = prompt;
    generation.max_tokens = ask.max_tokens;
    generation.temperature = 0.0;
    generation.thinking_off = true;
    load::RunOptions options;
    options.stopped = ask.stopped;
    const load::Run run = load::run_requests(
        *server.transport, {{engine::make_request(server.endpoint, generation, {.total = ask.request_timeout}), 0, {}}},
        options);
    if (ask.stopped && ask.stopped()) return fail(Errc::kInterrupted, "stopped while prompts were asked");
    const stream::RequestRecord& record = run.requests.front();
    if (!record.ok()) {
      return fail(Errc::kServer, fmt::format("a prompt failed: {} {}", to_string(record.outcome), record.reason),
                  server.endpoint.base_url);
    }
    texts[prompt] = record.reasoning + record.content;
  }
  return texts;
}

}  // namespace bk::greedy_divergence
