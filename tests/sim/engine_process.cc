#include "engine_process.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <thread>

#include "base/text.h"

namespace bk::sim::testing {
namespace {

// Undoes chunked coding; true when the last chunk came.
bool undo_chunks(std::string_view raw, std::string& body) {
  while (true) {
    const std::size_t line = raw.find("\r\n");
    if (line == std::string_view::npos) return false;
    const std::size_t size = std::strtoul(std::string(raw.substr(0, line)).c_str(), nullptr, 16);
    if (raw.size() < line + 2 + size + 2) return false;
    body += raw.substr(line + 2, size);
    raw.remove_prefix(line + 2 + size + 2);
    if (size == 0) return true;
  }
}

}  // namespace

Json Answer::json() const {
  const auto doc = parse_json(body);
  INFO(body.substr(0, 400));
  REQUIRE(doc);
  return *doc;
}

std::vector<std::string> Answer::events() const {
  std::vector<std::string> out;
  for (const std::string_view line : split_lines(body)) {
    if (line.starts_with("data: ")) out.emplace_back(line.substr(6));
  }
  return out;
}

EngineProcess::EngineProcess(const std::vector<std::string>& flags, const std::map<std::string, std::string>& env) {
  Command command;
  command.argv = {std::string(BK_BIN_DIR) + "/sim-engine", "--port", "0"};
  command.argv.insert(command.argv.end(), flags.begin(), flags.end());
  command.env = env;
  command.output_file = (dir_.path() / "log").string();
  auto started = Process::start(command);
  REQUIRE(started);
  process_.emplace(std::move(*started));
  const Nanos limit = monotonic_now() + 20 * kSecond;
  while (monotonic_now() < limit) {
    const std::string text = log();
    const std::size_t at = text.find("listening on http://127.0.0.1:");
    if (at != std::string::npos && text.find("\nready\n") != std::string::npos) {
      port_ = std::atoi(text.c_str() + at + 30);
      return;
    }
    if (process_->poll()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  FAIL("sim-engine did not start: " << log());
}

std::string EngineProcess::log() const { return read_file(dir_.path() / "log").value_or(""); }

int EngineProcess::open(const std::string& method, const std::string& path, const std::string& body,
                        const std::string& headers) const {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  const std::string request =
      fmt::format("{} {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{}Content-Length: {}\r\n\r\n{}", method, path,
                  headers, body.size(), body);
  REQUIRE(send(fd, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size()));
  return fd;
}

Answer EngineProcess::exchange(const std::string& method, const std::string& path, const std::string& body,
                               const std::string& headers) const {
  return read_answer(open(method, path, body, headers));
}

Answer read_answer(int fd) {
  timeval limit{20, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  std::string bytes;
  std::array<char, 65536> buffer;
  ssize_t got = 0;
  while ((got = recv(fd, buffer.data(), buffer.size(), 0)) > 0)
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  close(fd);
  Answer answer;
  const std::size_t end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) return answer;
  answer.head = to_lower(bytes.substr(0, end + 2));
  answer.status = std::atoi(answer.head.c_str() + 9);
  const std::string raw = bytes.substr(end + 4);
  if (answer.head.find("transfer-encoding: chunked") != std::string::npos) {
    answer.complete = undo_chunks(raw, answer.body);
  } else {
    answer.body = raw;
    answer.complete = true;
  }
  return answer;
}

double EngineProcess::metric(const std::string& name) const {
  double sum = 0;
  for (const std::string_view line : split_lines(get("/metrics").body)) {
    if (!line.starts_with(name) || line.size() <= name.size()) continue;
    if (line[name.size()] != '{' && line[name.size()] != ' ') continue;
    sum += parse_double(line.substr(line.rfind(' ') + 1)).value();
  }
  return sum;
}

std::string chat_body(const std::string& prompt, const std::string& more) {
  Json message = Json::object();
  message.set("role", "user").set("content", prompt);
  std::string text = Json::object().set("messages", Json::array().push(message)).dump();
  text.pop_back();
  return text + (more.empty() ? "" : "," + more) + "}";
}

}  // namespace bk::sim::testing
