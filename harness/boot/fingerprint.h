#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/process.h"
#include "boot/arm.h"
#include "boot/profile.h"

namespace bk::boot {

/// Host, kernel, CPU, memory, load and GPU as they are now. What cannot be read is null; `gpu_reason` says why no GPU
/// is listed. The host appears as the first 12 hex digits of its name's SHA-256.
[[nodiscard]] Json machine_state();

/// Whether values of this name are secrets: HF_TOKEN, VLLM_API_KEY, --api-key, --hf-token. MAX_TOKENS is none.
[[nodiscard]] bool names_secret(std::string_view name);

/// argv with every secret, and every value that follows a flag such as --api-key, replaced by ***.
[[nodiscard]] std::vector<std::string> redacted_argv(const std::vector<std::string>& argv,
                                                     const std::vector<std::string>& secrets);

/// The variables that the boot added, secrets and names such as HF_TOKEN replaced by ***.
[[nodiscard]] Json redacted_environment(const Environment& added, const std::vector<std::string>& secrets);

/// Profile, arm, command, environment and tool version: what the boot was asked to be.
[[nodiscard]] Json configuration(const Profile& profile, const Arm& arm, const Command& command,
                                 const std::vector<std::string>& secrets);

/// Sets what an engine's files are: `image_id`, null with `image_id_reason` where no container runs it.
void set_image(Json& fingerprint, const std::string& image_id);

}  // namespace bk::boot
