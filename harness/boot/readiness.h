#pragma once
#include <functional>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "boot/profile.h"
#include "engine/endpoint.h"
#include "http/transport.h"

namespace bk::boot {

/// Waits until a real generation answers: an open port or a green /health proves nothing. Sets endpoint.model.
/// `check` is asked between tries; its error (the process died, an interrupt) ends the wait. kTimeout with the last
/// reason at `deadline`; kMismatch for a wrong model name or context length; kHttp for an answer that will not change
/// (a refused key, a bad route).
[[nodiscard]] Status wait_until_ready(http::Transport& transport, const Profile& profile, Nanos deadline,
                                      const std::function<Status()>& check, engine::Endpoint& endpoint);

}  // namespace bk::boot
