#include "serve_command.h"

#include <fmt/ostream.h>
#include <httplib.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "cli/signals.h"
#include "ledger/report_page.h"
#include "store/exchange.h"

namespace bk::ledger_tool {
namespace {

/// The data of the page, made again only when another program has committed something.
class Source {
 public:
  explicit Source(store::Database database) : database_(std::move(database)) {}

  struct Answer {
    std::string mark, json;
  };
  Result<Answer> answer() {
    const std::lock_guard<std::mutex> lock(mutex_);
    BK_ASSIGN(const std::string mark, store::change_mark(database_));
    if (mark != made_at_) {
      BK_ASSIGN(data_, ledger::report_data(database_));
      made_at_ = mark;
      ++made_;
    }
    return Answer{fmt::format("\"{}\"", made_), data_.dump()};
  }
  Result<std::string> page() {
    BK_TRY(answer());
    const std::lock_guard<std::mutex> lock(mutex_);
    return ledger::report_page(data_, true);
  }

 private:
  std::mutex mutex_;
  store::Database database_;
  std::string made_at_;
  std::int64_t made_ = 0;
  Json data_;
};

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0; }

/// "localhost" of "localhost:8090", "::1" of "[::1]:8090".
std::string host_of(const std::string& header) {
  if (header.rfind('[', 0) == 0) return header.substr(1, header.find(']') - 1);
  return header.substr(0, header.find(':'));
}

void send_error(httplib::Response& response, const Error& error) {
  response.status = 500;
  response.set_content(error.text() + "\n", "text/plain; charset=utf-8");
}

void add_routes(httplib::Server& server, Source& source, bool loopback) {
  // A page of elsewhere whose name was made to mean this machine must not read the ledger.
  server.set_pre_routing_handler([loopback](const httplib::Request& request, httplib::Response& response) {
    response.set_header("X-Content-Type-Options", "nosniff");
    if (!loopback || is_loopback(host_of(request.get_header_value("Host")))) {
      return httplib::Server::HandlerResponse::Unhandled;
    }
    response.status = 403;
    response.set_content("this server answers to the name localhost only\n", "text/plain");
    return httplib::Server::HandlerResponse::Handled;
  });
  server.Get("/", [&source](const httplib::Request&, httplib::Response& response) {
    const auto page = source.page();
    if (!page) return send_error(response, page.error());
    response.set_content(*page, "text/html; charset=utf-8");
  });
  server.Get("/data", [&source](const httplib::Request& request, httplib::Response& response) {
    const auto answer = source.answer();
    if (!answer) return send_error(response, answer.error());
    response.set_header("ETag", answer->mark);
    if (request.get_header_value("If-None-Match") == answer->mark) {
      response.status = 304;
      return;
    }
    response.set_content(answer->json, "application/json");
  });
}

}  // namespace

void ServeCommand::register_on(cli::App& app) {
  app.description(
      "Serves the page of `ledger report`; it draws itself again when samples, boots, assessments or verdicts come. "
      "Whoever reaches the address may read the ledger: only this machine can, unless --host names another address. "
      "Nothing can be changed through it.");
  app.example("ledger serve --db results.db", "then open http://127.0.0.1:8090/");
  app.option("--host", host_, "address to listen on").value("ADDRESS");
  app.option("--port", port_, "port to listen on; 0: any free one").range(0, 65535).value("N");
  flags_.add_to(app, {cli::Common::kDb});
}

Result<cli::ExitCode> ServeCommand::run(cli::Streams& streams) {
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db, store::OpenMode::kReadOnly));
  Source source(std::move(database));
  const cli::InterruptGuard guard;
  httplib::Server server;
  add_routes(server, source, is_loopback(host_));
  int port = static_cast<int>(port_);
  if (port == 0) {
    port = server.bind_to_any_port(host_);
  } else if (!server.bind_to_port(host_, port)) {
    port = -1;
  }
  if (port < 0) {
    return fail(Errc::kEnvironment, "cannot listen there; another program may: give another --port or --host",
                fmt::format("{}:{}", host_, port_));
  }
  const bool six = host_.find(':') != std::string::npos;
  fmt::print(streams.err, "ledger: http://{}:{}/ shows {}; Ctrl-C ends it\n", six ? "[" + host_ + "]" : host_, port,
             flags_.db);
  streams.err.flush();
  std::thread listener([&] { server.listen_after_bind(); });
  while (!guard.interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  server.stop();
  listener.join();
  return cli::ExitCode::kDone;
}

}  // namespace bk::ledger_tool
