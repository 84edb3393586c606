#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

extern char** environ;

namespace bk {
namespace {

/// Arguments and environment laid out before fork: after it only async-signal-safe calls are allowed.
struct ExecImage {
  std::vector<std::string> environment;
  std::vector<char*> argv, envp;

  explicit ExecImage(const Command& command) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      if (!command.env.contains(text.substr(0, text.find('=')))) environment.push_back(text);
    }
    for (const auto& [key, value] : command.env) environment.push_back(key + "=" + value);
    for (const std::string& entry : environment) envp.push_back(const_cast<char*>(entry.c_str()));
    for (const std::string& entry : command.argv) argv.push_back(const_cast<char*>(entry.c_str()));
    envp.push_back(nullptr);
    argv.push_back(nullptr);
  }
};

struct Streams {
  int in = -1, out = -1, err = -1;  ///< -1: inherited
};

[[noreturn]] void child(const ExecImage& image, const Command& command, const Streams& streams, int report) {
  setpgid(0, 0);
  if (command.die_with_parent) prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  bool ok = true;
  if (streams.in >= 0) ok = ok && dup2(streams.in, 0) >= 0;
  if (streams.out >= 0) ok = ok && dup2(streams.out, 1) >= 0;
  if (streams.err >= 0) ok = ok && dup2(streams.err, 2) >= 0;
  if (!command.cwd.empty()) ok = ok && chdir(command.cwd.c_str()) == 0;
  if (ok) execvpe(image.argv[0], image.argv.data(), image.envp.data());
  const int reason = errno;
  [[maybe_unused]] const ssize_t n = write(report, &reason, sizeof reason);
  _exit(127);
}

Result<pid_t> launch(const Command& command, const Streams& streams) {
  if (command.argv.empty()) return fail(Errc::kUsage, "no program to run");
  const ExecImage image(command);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return fail(Errc::kEnvironment, std::strerror(errno), "pipe");
  const pid_t pid = fork();
  if (pid < 0) return fail(Errc::kEnvironment, std::strerror(errno), "fork");
  if (pid == 0) child(image, command, streams, report[1]);
  setpgid(pid, pid);
  close(report[1]);
  int reason = 0;
  ssize_t got = 0;
  do {
    got = read(report[0], &reason, sizeof reason);
  } while (got < 0 && errno == EINTR);
  close(report[0]);
  if (got == sizeof reason) {
    waitpid(pid, nullptr, 0);
    return fail(Errc::kEnvironment, std::string("cannot run it: ") + std::strerror(reason), command.argv[0]);
  }
  return pid;
}

Exit decode(int status) { return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)}; }

}  // namespace

Result<Process> Process::start(const Command& command) {
  Streams streams;
  int devnull = open("/dev/null", O_RDONLY | O_CLOEXEC);
  streams.in = devnull;
  if (!command.output_file.empty()) {
    streams.out = open(command.output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (streams.out < 0) {
      const int reason = errno;
      close(devnull);
      return fail(Errc::kIo, std::strerror(reason), command.output_file);
    }
    streams.err = streams.out;
  }
  auto pid = launch(command, streams);
  close(devnull);
  if (streams.out >= 0) close(streams.out);
  if (!pid) return fail(pid.error());
  return Process(*pid);
}

Process::Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)), exit_(other.exit_) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(exit_, other.exit_);
  return *this;
}

Process::~Process() {
  if (pid_ > 0 && !exit_) stop(2 * kSecond);
}

std::optional<Exit> Process::poll() {
  if (exit_ || pid_ <= 0) return exit_;
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) == pid_) exit_ = decode(status);
  return exit_;
}

Exit Process::wait() {
  if (!exit_) {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    exit_ = decode(status);
  }
  return *exit_;
}

Exit Process::stop(Nanos grace) {
  SystemClock clock;
  kill(-pid_, SIGTERM);
  const Nanos limit = clock.now() + grace;
  while (!poll() && clock.now() < limit) clock.sleep_until(clock.now() + 5 * kMillisecond);
  kill(-pid_, SIGKILL);  // whatever of the group outlived its leader
  return wait();
}

namespace {

/// Writes to a pipe whose reader may have ended: EPIPE comes back, where the signal would end this process.
ssize_t write_to_child(int fd, std::string_view bytes) {
  sigset_t broken, before, pending;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  sigpending(&pending);
  pthread_sigmask(SIG_BLOCK, &broken, &before);
  const ssize_t n = write(fd, bytes.data(), bytes.size());
  const int error = errno;
  if (n < 0 && error == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
    constexpr timespec kNow{};
    while (sigtimedwait(&broken, nullptr, &kNow) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return n;
}

}  // namespace

Result<Captured> run_captured(const Command& command, Nanos limit, const std::string& input) {
  int in[2], out[2], err[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
    return fail(Errc::kEnvironment, std::strerror(errno), "pipe");
  }
  const auto pid = launch(command, {in[0], out[1], err[1]});
  close(in[0]), close(out[1]), close(err[1]);
  if (!pid) {
    close(in[1]), close(out[0]), close(err[0]);
    return fail(pid.error());
  }
  fcntl(in[1], F_SETFL, O_NONBLOCK);
  Captured captured;
  std::string_view left = input;
  const Nanos deadline = monotonic_now() + limit;
  bool timed_out = false;
  pollfd fds[3] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}, {in[1], POLLOUT, 0}};
  std::string* sinks[2] = {&captured.out, &captured.err};
  if (left.empty()) close(std::exchange(fds[2].fd, -1));
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    const Nanos rest = deadline - monotonic_now();
    if (rest <= 0) {
      timed_out = true;
      break;
    }
    if (::poll(fds, 3, static_cast<int>(rest / kMillisecond) + 1) < 0 && errno != EINTR) break;
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char buffer[1 << 14];
      const ssize_t n = read(fds[i].fd, buffer, sizeof buffer);
      if (n > 0) sinks[i]->append(buffer, static_cast<std::size_t>(n));
      if (n == 0) close(std::exchange(fds[i].fd, -1));
    }
    if (fds[2].fd >= 0 && fds[2].revents != 0) {
      const ssize_t n = write_to_child(fds[2].fd, left);
      if (n > 0) left.remove_prefix(static_cast<std::size_t>(n));
      if (left.empty() || (n < 0 && errno != EAGAIN && errno != EINTR)) close(std::exchange(fds[2].fd, -1));
    }
  }
  for (const pollfd& fd : fds) {
    if (fd.fd >= 0) close(fd.fd);
  }
  if (timed_out) kill(-*pid, SIGKILL);
  int status = 0;
  while (waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  captured.exit = decode(status);
  if (timed_out) return fail(Errc::kTimeout, fmt::format("still running after {:.0f} s", to_s(limit)), command.argv[0]);
  return captured;
}

}  // namespace bk
