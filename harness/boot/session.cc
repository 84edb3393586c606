#include "boot/session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "manifest/path.h"

namespace bk::boot {
namespace {

struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    if (read_end >= 0) close(read_end);
    if (write_end >= 0) close(write_end);
  }
  Status make() { return keep(pipe2(fds_, O_CLOEXEC), "pipe"); }
  /// A socket for a pipe: writing to one whose reader is gone raises no signal when send() is told so.
  Status make_socket() { return keep(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds_), "socketpair"); }

 private:
  Status keep(int code, const char* call) {
    if (code != 0) return fail(Errc::kEnvironment, std::strerror(errno), call);
    read_end = fds_[0];
    write_end = fds_[1];
    return {};
  }
  int fds_[2] = {-1, -1};
};

void set_nonblocking(int fd) {
  if (fd >= 0) fcntl(fd, F_SETFL, O_NONBLOCK);
}

Exit decode(int status) { return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)}; }

/// Reads what is there; closes the descriptor at its end.
void drain(int& fd, std::string& into) {
  std::array<char, 1U << 14U> buffer{};
  while (fd >= 0) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got > 0) {
      into.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      close(std::exchange(fd, -1));
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

[[noreturn]] void become(char* const* argv, int in, int out, int err) {
  setpgid(0, 0);  // a Ctrl-C at the terminal is for the program that talks to the node, not for the connection
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  if (dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(err, 2) >= 0) execvp(argv[0], argv);
  const std::string_view text = "cannot be run\n";
  [[maybe_unused]] const ssize_t n = write(2, text.data(), text.size());
  _exit(127);
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(std::string node, const std::vector<std::string>& argv,
                                               const std::string& output_file) {
  Pipe in, out, err;
  BK_TRY(in.make_socket());
  if (output_file.empty()) {
    BK_TRY(out.make());
    BK_TRY(err.make());
  } else {
    out.write_end = ::open(output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (out.write_end < 0) return fail(Errc::kIo, std::strerror(errno), output_file);
  }
  std::vector<char*> words;
  words.reserve(argv.size() + 1);
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::unique_ptr<Session> session(new Session(std::move(node)));
  const pid_t pid = fork();
  if (pid < 0) return fail(Errc::kEnvironment, std::strerror(errno), "fork");
  if (pid == 0) become(words.data(), in.read_end, out.write_end, err.write_end < 0 ? out.write_end : err.write_end);
  session->pid_ = pid;
  session->in_ = std::exchange(in.write_end, -1);
  session->out_ = std::exchange(out.read_end, -1);
  session->err_ = std::exchange(err.read_end, -1);
  for (const int fd : {session->in_, session->out_, session->err_}) set_nonblocking(fd);
  return session;
}

Session::~Session() {
  if (!finish(10 * kSecond)) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  for (int* fd : {&out_, &err_}) {
    if (*fd >= 0) close(std::exchange(*fd, -1));
  }
}

void Session::close_input() {
  if (in_ >= 0) close(std::exchange(in_, -1));
}

Status Session::send_now(const std::string& bytes) {
  std::size_t sent = 0;
  SystemClock clock;
  const Nanos end = clock.now() + 30 * kSecond;
  while (sent < bytes.size() && clock.now() < end) {
    const ssize_t n = ::send(in_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n > 0) sent += static_cast<std::size_t>(n);
    if (n < 0 && errno != EAGAIN && errno != EINTR) break;
    if (n < 0) clock.sleep_until(clock.now() + 2 * kMillisecond);
  }
  return sent == bytes.size() ? Status{} : Status(fail(lost()));
}

std::optional<Exit> Session::poll() {
  int status = 0;
  if (!exit_ && waitpid(pid_, &status, WNOHANG) == pid_) exit_ = decode(status);
  return exit_;
}

std::optional<Exit> Session::finish(Nanos limit) {
  close_input();
  SystemClock clock;
  const Nanos end = clock.now() + limit;
  while (!poll() && clock.now() < end) {
    drain(out_, unread_);  // a full pipe would hold the script back
    drain(err_, errors_);
    clock.sleep_until(clock.now() + 2 * kMillisecond);
  }
  return exit_;
}

Error Session::lost() {
  (void)finish(kSecond);
  drain(err_, errors_);
  std::string last;
  for (const std::string_view line : split_lines(errors_)) {
    if (!trim(line).empty()) last = manifest::printable(trim(line));
  }
  const std::string code = exit_ ? fmt::format("exit code {}", exit_->code) : "still running";
  return {Errc::kConnect,
          last.empty() ? fmt::format("the connection ended ({})", code)
                       : fmt::format("the connection ended ({}): {}", code, last),
          node_};
}

/// The conversation of one ask() with all its sessions.
class Asking {
 public:
  Asking(const std::vector<Session*>& sessions, const std::vector<std::string>& requests)
      : sessions_(sessions), answers_(sessions.size()), lines_(sessions.size()) {
    for (std::size_t i = 0; i < sessions.size(); ++i) sessions[i]->unsent_ += requests[i];
  }

  std::vector<Answer> run(Nanos limit, const std::function<bool()>& interrupted) {
    const Nanos end = monotonic_now() + limit;
    for (std::size_t i = 0; i < sessions_.size(); ++i) take_lines(i);
    while (waiting()) {
      if (interrupted && interrupted()) return close_all({Errc::kInterrupted, "interrupted", {}});
      if (monotonic_now() >= end) {
        return close_all({Errc::kTimeout, fmt::format("no answer within {:.0f} s", to_s(limit)), {}});
      }
      step();
    }
    return close_all({Errc::kInternal, "no answer", {}});
  }

 private:
  [[nodiscard]] bool waiting() const {
    for (const auto& answer : answers_) {
      if (!answer) return true;
    }
    return false;
  }

  std::vector<Answer> close_all(const Error& missing) {
    std::vector<Answer> out;
    out.reserve(answers_.size());
    for (std::size_t i = 0; i < answers_.size(); ++i) {
      if (answers_[i]) {
        out.push_back(std::move(*answers_[i]));
      } else {
        out.push_back(fail(missing.code, missing.what, sessions_[i]->node_));
      }
    }
    return out;
  }

  void step() {
    constexpr int kLookUp_ms = 50;
    std::vector<pollfd> fds;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      if (answers_[i]) continue;
      const Session& session = *sessions_[i];
      fds.push_back({session.out_, POLLIN, 0});
      fds.push_back({session.err_, POLLIN, 0});
      if (!session.unsent_.empty()) fds.push_back({session.in_, POLLOUT, 0});
    }
    ::poll(fds.data(), fds.size(), kLookUp_ms);
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      if (answers_[i]) continue;
      send_more(*sessions_[i]);
      drain(sessions_[i]->err_, sessions_[i]->errors_);
      drain(sessions_[i]->out_, sessions_[i]->unread_);
      take_lines(i);
      if (!answers_[i] && sessions_[i]->out_ < 0) answers_[i] = fail(sessions_[i]->lost());
    }
  }

  static void send_more(Session& session) {
    while (!session.unsent_.empty() && session.in_ >= 0) {
      const ssize_t sent = ::send(session.in_, session.unsent_.data(), session.unsent_.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EAGAIN) return;
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return session.close_input();  // its end is told by the other side
      session.unsent_.erase(0, static_cast<std::size_t>(sent));
    }
  }

  void take_lines(std::size_t i) {
    std::string& text = sessions_[i]->unread_;
    std::size_t start = 0;
    for (std::size_t end = text.find('\n'); !answers_[i] && end != std::string::npos; end = text.find('\n', start)) {
      const std::string line = text.substr(start, end - start);
      start = end + 1;
      if (line == "ok") {
        answers_[i] = std::move(lines_[i]);
      } else if (line.starts_with("no ")) {
        answers_[i] = fail(Errc::kRefused, manifest::printable(line.substr(3)), sessions_[i]->node_);
      } else {
        lines_[i].push_back(line);
      }
    }
    text.erase(0, start);
  }

  const std::vector<Session*>& sessions_;
  std::vector<std::optional<Answer>> answers_;
  std::vector<std::vector<std::string>> lines_;
};

std::vector<Answer> ask(const std::vector<Session*>& sessions, const std::vector<std::string>& requests, Nanos limit,
                        const std::function<bool()>& interrupted) {
  return Asking(sessions, requests).run(limit, interrupted);
}

}  // namespace bk::boot
