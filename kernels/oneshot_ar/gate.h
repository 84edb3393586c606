#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace bk::kernels {

/// Whether the one-shot path is used, decided by all ranks together: a rank that left alone would hang the others. What
/// is decided for a call depends on what is equal on every rank, and on nothing else.
class OneshotGate {
 public:
  /// A collective: true on every rank if every rank gives true, else false on every rank. Has to be called on all of
  /// them.
  using AllAgree = std::function<bool(bool)>;

  /// `knob`: "" or 0 is off, 1 is on; anything else disarms and says so. Ranks that differ in it end up off together.
  OneshotGate(std::string_view knob, AllAgree all_agree);

  /// One step of arming (buffers, addresses, self-test): runs `work` where the rank is still willing, and lets all
  /// ranks vote. An exception is a no. Returns whether the path is still possible.
  bool prepare(const std::string& what, const std::function<bool()>& work);
  /// Ends arming: from here on the path serves, if every step was agreed on.
  bool arm();
  /// Between steps of the engine: one unhealthy rank takes all of them off, for good.
  bool review(bool healthy);
  /// Whether this call can take the path.
  bool serves(std::int64_t elements, bool is_bf16, bool is_contiguous, int world) const;

  const std::string& reason() const { return reason_; }

 private:
  bool vote(bool mine, const std::string& what);

  AllAgree all_agree_;
  bool possible_ = true;
  bool armed_ = false;
  std::string reason_;
};

}  // namespace bk::kernels
