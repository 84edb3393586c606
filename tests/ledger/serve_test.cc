#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "http/transport.h"
#include "ledger_fixture.h"

using namespace bk;

namespace {

struct Served {
  explicit Served(const TempDir& dir, const std::string& db) {
    Command command;
    const std::string log = dir.path() / "serve.log";
    command.argv = {BK_BIN_DIR "/ledger", "serve", "--db", db, "--port", "0"};
    command.output_file = log;
    auto started = Process::start(command);
    REQUIRE(started);
    process.emplace(std::move(*started));
    for (int i = 0; i < 600 && base.empty(); ++i) {
      const std::string text = read_file(log).value_or("");
      const std::size_t at = text.find("http://");
      if (at != std::string::npos && text.find('\n') != std::string::npos) {
        base = text.substr(at, text.find(' ', at) - at);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    REQUIRE(base.starts_with("http://127.0.0.1:"));
  }

  http::Response get(const std::string& path, std::vector<std::pair<std::string, std::string>> headers = {},
                     const std::string& method = "GET") {
    const auto transport = http::make_curl_transport();
    http::Request request;
    request.method = method, request.url = base + path, request.headers = std::move(headers);
    auto response = http::fetch(*transport, std::move(request));
    REQUIRE(response);
    return *response;
  }

  std::optional<Process> process;
  std::string base;  ///< "http://127.0.0.1:PORT/"
};

std::string header(const http::Response& response, const std::string& name) {
  for (const auto& [key, value] : response.headers) {
    if (to_lower(key) == name) return value;
  }
  return {};
}

}  // namespace

TEST_CASE("a served page follows the database, and answers this machine only", "[.serve]") {
  TempDir dir;
  const std::string path = dir.path() / "results.db";
  store::Database db = store::Database::open(path).value();
  ledger::fixture::fill(db);
  Served server(dir, path);
  const http::Response page = server.get("");
  CHECK(page.status == 200);
  CHECK(page.body.find("look_again()") != std::string::npos);
  CHECK(page.body.find("GATEFUSE 0 -") != std::string::npos);

  const http::Response first = server.get("data");
  REQUIRE(first.status == 200);
  const std::string mark = header(first, "etag");
  REQUIRE_FALSE(mark.empty());
  CHECK(server.get("data", {{"If-None-Match", mark}}).status == 304);
  const auto newest = [](const http::Response& r) { return parse_json(r.body).value()["brackets"].items().back(); };
  CHECK(newest(first)["boots"].items().empty());

  // A bracket goes on: a boot begins, and a sample comes before it ends.
  const store::RowId bracket = db.list_brackets().value().back().bracket.id;
  REQUIRE(db.set_bracket_state(bracket, "running"));
  ledger::fixture::add_boot(db, bracket, 0, {"base", {61.0, 62.0}, "running"});
  const http::Response second = server.get("data", {{"If-None-Match", mark}});
  REQUIRE(second.status == 200);
  CHECK(header(second, "etag") != mark);
  CHECK(newest(second)["state"].as_string() == "running");
  CHECK(newest(second)["boots"].items().at(0)["cells"]["C=1"]["decode_tok_s"].items().at(0).as_double() == 61.5);

  CHECK(server.get("data", {{"Host", "evil.example"}}).status == 403);
  CHECK(server.get("data", {{"Host", "localhost:1"}}).status == 200);
  CHECK(server.get("nothing").status == 404);
  CHECK(server.get("../results.db").status == 404);
  CHECK(server.get("data", {}, "POST").status == 404);
  CHECK(server.process->stop(20 * kSecond).code == 0);
}
