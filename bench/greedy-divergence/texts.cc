#include "texts.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
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

Result<Texts> ask_texts(const cli::Connection& connection, const leg::GreedyPlan& plan, leg::Sink& sink) {
  BK_ASSIGN(const tool::Server server, tool::reach(connection));
  BK_ASSIGN(const leg::GreedyRun run, leg::ask_greedy(*server.transport, server.endpoint, plan, sink));
  for (const stream::RequestRecord& record : run.records) {
    if (record.ok()) continue;
    return fail(Errc::kServer, fmt::format("a prompt failed: {} {}", to_string(record.outcome), record.reason),
                server.endpoint.base_url);
  }
  return run.texts();
}

}  // namespace bk::greedy_divergence
