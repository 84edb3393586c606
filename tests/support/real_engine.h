#pragma once
#include <catch2/catch.hpp>
#include <cmath>
#include <iostream>

#include "base/file.h"
#include "boot/launcher.h"
#include "engine/metrics_client.h"
#include "http/transport.h"
#include "store/store.h"

/// Engines that `./dev engines` installs, booted by their profiles, and what they and a program's database say.
namespace bk::test {

/// Whether what a test needs is there; says that it is skipped where it is not.
inline bool is_installed(const std::string& path, const std::string& install) {
  if (read_file(std::string(BK_SOURCE_DIR) + "/.engines/" + path)) return true;
  std::cout << "skipped: no real engine is installed; " << install << " installs it\n";
  return false;
}

/// Its log is engine.log in `dir`.
inline std::unique_ptr<boot::Booted> boot_profile(const std::string& name, const TempDir& dir,
                                                  const boot::KnobMap& knobs) {
  auto profile = boot::load_profile(std::string(BK_SOURCE_DIR) + "/profiles/" + name + ".env", ".", {});
  REQUIRE(profile);
  auto arm = boot::make_arm(*profile, "base", knobs);
  REQUIRE(arm);
  boot::LaunchOptions options;
  options.log_file = dir.path() / "engine.log";
  options.bin_dir = BK_BIN_DIR;
  auto booted = boot::make_process_launcher()->boot(*profile, *arm, options);
  INFO((booted ? std::string() : booted.error().text()));
  REQUIRE(booted);
  return std::move(*booted);
}

inline engine::Counters counters_of(const boot::Booted& engine) {
  const auto transport = http::make_curl_transport();
  auto counters = engine::fetch_counters(*transport, engine.facts().endpoint);
  REQUIRE(counters);
  return *counters;
}

inline std::int64_t whole_of(const std::optional<double>& counter) {
  REQUIRE(counter);
  REQUIRE(*counter == std::floor(*counter));
  return static_cast<std::int64_t>(*counter);
}

inline std::int64_t counted(const std::optional<double>& before, const std::optional<double>& after) {
  return whole_of(after) - whole_of(before);
}

/// Every sample of a database that one program filled, warm-ups too, each with its requests.
inline std::vector<store::SampleRow> samples_in(const std::string& path) {
  auto db = store::Database::open(path, store::OpenMode::kReadOnly);
  REQUIRE(db);
  auto samples = db->samples(1);
  REQUIRE(samples);
  for (store::SampleRow& sample : *samples) {
    auto requests = db->requests(sample.id);
    REQUIRE(requests);
    sample.requests = std::move(*requests);
  }
  return *samples;
}

}  // namespace bk::test
