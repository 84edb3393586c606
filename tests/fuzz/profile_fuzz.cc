#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "boot/arm.h"
#include "boot/profile.h"

/// Any bytes give a profile or one line of error; a profile resolves, and its hash does not depend on the second
/// reading.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bk::boot;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto profile = parse_profile(text, "p.env", {{"EXTRA_ENV", "BK_FUZZED=1"}});
  if (!profile) {
    if (profile.error().what.empty() || profile.error().text().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  if (profile_hash(*profile) != profile_hash(parse_profile(text, "p.env", {{"EXTRA_ENV", "BK_FUZZED=1"}}).value()))
    std::abort();
  const auto arm = make_arm(*profile, "base", {});
  if (!arm) {  // a rule between knobs that their defaults do not keep
    if (arm.error().what.empty() || arm.error().text().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  const auto command = resolve_command(*profile, *arm, {8000, 1, 0, "/bin", "/root"});
  if (command && command->argv.empty()) std::abort();
  (void)parse_knobs(text).has_value();
  return 0;
}
