#include "run.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <ostream>
#include <thread>

#include "base/file.h"
#include "service.h"

namespace bk::sim {
namespace {

class StopOnSignal final : public Watcher {
 public:
  explicit StopOnSignal(Loop& loop) : loop_(loop) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    loop_.watch(fd_, EPOLLIN, this);
  }
  ~StopOnSignal() override { close(fd_); }
  void on_ready(std::uint32_t) override { loop_.stop(); }

 private:
  Loop& loop_;
  int fd_;
};

int exit_code(const Error& error) { return error.code == Errc::kUsage || error.code == Errc::kParse ? 2 : 3; }

// Thousands of open streams need as many files as the hard limit gives.
void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

Result<std::string> key_from(const std::string& variable) {
  if (variable.empty()) return std::string();
  const char* value = std::getenv(variable.c_str());
  if (value == nullptr || *value == '\0')
    return fail(Errc::kUsage, "the variable that --api-key-env names is not set", variable);
  return std::string(value);
}

Result<std::uint64_t> seed_of(const Options& options) {
  const auto knob = options.knobs.find("SEED");
  if (options.seed && knob != options.knobs.end()) return fail(Errc::kUsage, "give --seed or --knob SEED=, not both");
  if (options.seed) return *options.seed;
  return knob == options.knobs.end() ? 1 : std::strtoull(knob->second.c_str(), nullptr, 10);
}

void list_knobs(std::ostream& out) {
  for (const physics::Knob& knob : physics::knobs())
    out << fmt::format("{:16} {:8} {}\n", knob.name, knob.default_value, knob.help);
}

Status serve(Streams streams, const Options& options, int& code) {
  std::string key;
  BK_ASSIGN(key, key_from(options.api_key_env));
  std::uint64_t seed = 1;
  BK_ASSIGN(seed, seed_of(options));
  BK_ASSIGN(auto configured, physics::configure(options.profile, options.knobs));
  configured.params = physics::faster(std::move(configured.params), options.speed);
  if (options.max_model_len) configured.params.max_model_len = static_cast<int>(*options.max_model_len);
  BK_ASSIGN(const auto faults, parse_faults(options.faults));
  Script script;
  if (!options.script_file.empty()) {
    BK_ASSIGN(const std::string text, read_file(options.script_file));
    auto parsed = parse_script(text);
    if (!parsed) return fail(parsed.error().with(options.script_file));
    script = std::move(*parsed);
  }
  BK_ASSIGN(auto loop, Loop::create());
  StopOnSignal stop(*loop);
  for (const auto& [name, value] : configured.values) streams.err << "proof " << name << '=' << value << '\n';
  Service service(*loop, options, std::move(configured), seed, faults, std::move(key), std::move(script));
  if (options.boot_delay_s > 0) std::this_thread::sleep_for(std::chrono::duration<double>(options.boot_delay_s));
  BK_ASSIGN(const int port, service.server().listen_tcp(options.host, options.port));
  if (!options.unix_socket.empty()) BK_TRY(service.server().listen_unix(options.unix_socket));
  streams.out << fmt::format(
                     "listening on http://{}:{}\n",
                     options.host.find(':') == std::string::npos ? options.host : fmt::format("[{}]", options.host),
                     port)
              << std::flush;
  streams.err << "ready" << std::endl;
  loop->run();
  code = service.exit_code();
  return {};
}

}  // namespace

int run(Streams streams, int argc, const char* const* argv) {
  const auto report = [&](const Error& error) {
    streams.err << "sim-engine: error: " << error.text() << '\n';
    return exit_code(error);
  };
  const auto options = parse_flags(argc, argv);
  if (!options) return report(options.error());
  if (options->done) {
    streams.out << options->text;
    return 0;
  }
  if (options->list_knobs) {
    list_knobs(streams.out);
    return 0;
  }
  if (!options->write_tokenizer.empty()) {
    const Status written = write_file_atomic(options->write_tokenizer, Tokenizer().to_hugging_face_json());
    return written ? 0 : report(written.error());
  }
  raise_file_limit();
  int code = 0;
  const Status served = serve(streams, *options, code);
  return served ? code : report(served.error());
}

}  // namespace bk::sim
