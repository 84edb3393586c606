#include "server.h"

#include "base/clock.h"
#include "base/text.h"
#include "http/transport.h"
#include "reader.h"

namespace bk::perf {
namespace {

constexpr Nanos kStartLimit = 10 * kSecond;

// "listening on http://127.0.0.1:1234" is the first thing that it says.
Result<std::string> announced_url(const std::filesystem::path& log, Process& process) {
  const Nanos give_up = monotonic_now() + kStartLimit;
  const std::string mark = "listening on ";
  while (monotonic_now() < give_up) {
    const auto text = read_file(log);
    const std::size_t at = text ? text->find(mark) : std::string::npos;
    const std::size_t end = at == std::string::npos ? at : text->find('\n', at);
    if (end != std::string::npos) return text->substr(at + mark.size(), end - at - mark.size());
    if (process.poll()) return fail(Errc::kEnvironment, "sim-engine ended: " + text.value_or(""), log);
    SystemClock().sleep_until(monotonic_now() + 5 * kMillisecond);
  }
  return fail(Errc::kEnvironment, "sim-engine did not come up", log);
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const std::string& engine, const std::string& script) {
  TempDir dir;
  const auto script_path = dir.path() / "script.jsonl";
  BK_TRY(write_file_atomic(script_path, script));
  return start_engine(engine, {"--script", script_path});
}

Result<std::unique_ptr<Server>> Server::start_engine(const std::string& engine, const std::vector<std::string>& flags) {
  const TempDir dir;
  Command command;
  command.argv = {engine, "--port", "0"};
  command.argv.insert(command.argv.end(), flags.begin(), flags.end());
  command.output_file = dir.path() / "log";
  BK_ASSIGN(Process process, Process::start(command));
  std::unique_ptr<Server> server(new Server(std::move(process)));
  BK_ASSIGN(server->url_, announced_url(command.output_file, server->process_));
  return server;
}

Result<Json> Server::truth() const {
  const auto transport = http::make_curl_transport();
  http::Request request;
  request.method = "GET";
  request.url = url_ + "/sim/truth";
  request.timeouts.total = kStartLimit;
  BK_ASSIGN(const http::Response response, http::fetch(*transport, request));
  if (response.status != 200) return fail(Errc::kHttp, "status " + std::to_string(response.status), request.url);
  return parse_json(response.body);
}

std::string flood_script(const std::string& path, int events, int per_write) {
  const auto line = [&path](const std::string& data) {
    return Json::object().set("path", path).set("at_ms", 0).set("data", data).dump() + "\n";
  };
  std::string write;
  for (int i = 0; i < per_write; ++i) write += event_text();
  std::string script;
  for (int i = 0; i < events; i += per_write) script += line(write);
  return script + line("data: [DONE]\n\n");
}

std::string stream_script(const std::string& path, double first_ms, double every_ms, int events) {
  Json stream = Json::object();
  stream.set("first_ms", first_ms).set("every_ms", every_ms).set("events", events).set("phase", "spread");
  return Json::object().set("path", path).set("stream", stream).dump() + "\n";
}

}  // namespace bk::perf
