#include "lane.h"

#include <fmt/format.h>

#include "boot/run_lock.h"
#include "kept.h"

namespace bk::supervisor {

Lane::Lane(LaneSetup setup) : setup_(std::move(setup)), launcher_(boot::make_launcher(boot::run_lock_dir())) {
  const std::string host = setup_.profile.host == "0.0.0.0" ? "127.0.0.1" : setup_.profile.host;
  endpoint_.base_url = fmt::format("http://{}:{}", host, fixed_port());
  endpoint_.api_key = setup_.launch.api_key;
  const std::string& metrics = setup_.profile.metrics;
  endpoint_.metrics_url = metrics[0] == '/' ? endpoint_.base_url + metrics : metrics;
}

int Lane::fixed_port() const { return setup_.launch.port > 0 ? setup_.launch.port : setup_.profile.port; }

std::optional<pid_t> Lane::pid() const {
  if (!booted_) return {};
  return booted_->facts().pid;
}

Status Lane::launch(const std::function<void(const std::string&)>& say) {
  BK_TRY(stop());
  const std::filesystem::path logs = setup_.state_dir / "logs";
  BK_TRY(make_room(logs));
  log_path_ = logs / fmt::format("engine-{}.log", stamp());
  boot::LaunchOptions options = setup_.launch;
  options.log_file = log_path_;
  options.boot_index = boots_++;
  options.progress = say;
  BK_ASSIGN(booted_, launcher_->boot(setup_.profile, setup_.arm, options));
  endpoint_ = booted_->facts().endpoint;
  for (const boot::Proof& proof : booted_->facts().proofs) {
    if (!proof.ok)
      say(fmt::format("knob {}={} is not proved: {}, engine says {}", proof.knob, proof.asked, proof.reason,
                      proof.confirmed.value_or("nothing")));
  }
  return {};
}

std::optional<std::string> Lane::gone() {
  if (!booted_) return {};
  if (const auto alive = booted_->alive(); !alive) return alive.error().what;
  return {};
}

Status Lane::stop() {
  if (!booted_) return {};
  Status stopped = booted_->stop();
  booted_.reset();
  return stopped;
}

}  // namespace bk::supervisor
