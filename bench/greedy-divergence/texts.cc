#include "texts.h"

#include <fmt/format.h>

#include "base/json.h"
#include "load/prompt_file.h"
#include "tool/session.h"

namespace bk::greedy_divergence {
Result<Texts> read_texts(const std::string& path) {
  Texts texts;
  BK_TRY(load::each_json_line(path, [&texts](const Json& line, const std::string& where) -> Status {
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
  BK_ASSIGN(const tool::Server server, tool::reach(connection, plan.stopped));
  BK_ASSIGN(const leg::GreedyRun run, leg::ask_greedy(*server.transport, server.endpoint, plan, sink));
  for (const stream::RequestRecord& record : run.records) {
    if (record.ok()) continue;
    return fail(Errc::kServer, fmt::format("a prompt failed: {} {}", to_string(record.outcome), record.reason),
                server.endpoint.base_url);
  }
  return run.texts();
}

}  // namespace bk::greedy_divergence
