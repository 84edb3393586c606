#include "server.h"

#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "store/store.h"

namespace bk::postgres_test {
namespace fs = std::filesystem;
namespace {

/// PostgreSQL refuses to run as root: then everything runs as "postgres", the package's own user.
std::vector<std::string> as_server_user(std::vector<std::string> argv) {
  if (geteuid() != 0) return argv;
  std::vector<std::string> out = {"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"};
  out.insert(out.end(), argv.begin(), argv.end());
  return out;
}

}  // namespace

std::optional<fs::path> programs() {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it("/usr/lib/postgresql", error), end; !error && it != end; it.increment(error)) {
    if (fs::exists(it->path() / "bin/initdb")) found.push_back(it->path() / "bin");
  }
  std::sort(found.begin(), found.end());
  return found.empty() ? std::nullopt : std::optional(found.back());
}

Server::Server() {
  const fs::path data = dir_.path() / "data";
  fs::create_directory(data);
  if (geteuid() == 0) {
    const passwd* user = getpwnam("postgres");
    REQUIRE(user != nullptr);
    for (const fs::path& path : {dir_.path(), data}) REQUIRE(chown(path.c_str(), user->pw_uid, user->pw_gid) == 0);
  }
  Command init;
  init.argv = as_server_user({*programs() / "initdb", "-D", data, "-U", "tester", "--auth=trust", "--no-sync",
                              "--encoding=UTF8", "--locale=C.UTF-8"});
  init.cwd = dir_.path();
  const auto done = run_captured(init, 120 * kSecond);
  REQUIRE(done);
  INFO(done->err);
  REQUIRE(done->exit.ok());
  url_ = "postgresql:///postgres?user=tester&host=" + dir_.path().string();
  start();
}

void Server::start() {
  Command run;
  run.argv = as_server_user({*programs() / "postgres", "-D", dir_.path() / "data", "-k", dir_.path(), "-c",
                             "listen_addresses=", "-c", "fsync=off"});
  run.cwd = dir_.path();
  run.output_file = dir_.path() / "log";
  run.die_with_parent = true;
  auto process = Process::start(run);
  REQUIRE(process);
  process_.emplace(std::move(*process));
  for (int i = 0; i < 600; ++i) {
    const auto opened = store::Database::open(url_);
    if (opened) return;
    REQUIRE_FALSE(process_->poll());
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  FAIL("the server did not come up: " + read_file(dir_.path() / "log").value_or(""));
}

void Server::kill() {
  ::kill(process_->pid(), SIGQUIT);  // immediate shutdown: no checkpoint, sessions cut
  (void)process_->wait();
  process_.reset();
}

}  // namespace bk::postgres_test
