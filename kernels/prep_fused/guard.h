#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bk::kernels {

enum class PrepMode { kOff, kShadow, kOn };

/// A knob's value. A value that is none of "", 0, off, shadow, 1, on gives kOff and says why.
struct PrepChoice {
  PrepMode mode = PrepMode::kOff;
  std::string refused;
};
PrepChoice parse_prep_mode(std::string_view text);

/// What one step can do. Any of these may throw, but an exception of stock() is the engine's own and passes through.
class PrepWork {
 public:
  virtual ~PrepWork() = default;
  /// Why the fused path cannot serve this step, or empty.
  virtual std::string refuse() = 0;
  /// Prepares the step by the fused path, into the tensors that the engine uses now. False: the launch failed.
  virtual bool fused() = 0;
  /// Sets the fused results aside, so that stock() may write over them.
  virtual void keep() = 0;
  virtual void stock() = 0;
  /// Numbers that differ between what was kept and what stock() wrote.
  virtual std::int64_t drift() = 0;
};

enum class PrepServed { kStock, kFused };

struct PrepReport {
  PrepServed served = PrepServed::kStock;
  bool compared = false;
};

/// Decides, step by step, who prepares the input. Whatever goes wrong ends in the stock path; a disarm holds for the
/// rest of the boot, whoever asks for another.
class PrepGuard {
 public:
  static constexpr int kSelfCheckSteps = 64;

  explicit PrepGuard(std::string_view knob);

  /// One prepared and compared step before serving. A failure disarms.
  void warm_up(PrepWork& work);
  PrepReport step(PrepWork& work);
  /// The engine's hooks around sleeping; they neither arm nor disarm.
  void sleep() { asleep_ = true; }
  void wake() { asleep_ = false; }

  bool armed() const { return mode_ != PrepMode::kOff && reason_.empty(); }
  PrepMode mode() const { return mode_; }
  /// Why it is not armed; empty while it is, or when the knob is off.
  const std::string& reason() const { return reason_; }
  std::int64_t fallbacks() const { return fallbacks_; }

 private:
  void disarm(std::string why);
  bool try_fused(PrepWork& work);
  PrepReport compare(PrepWork& work);

  PrepMode mode_;
  std::string reason_;
  std::int64_t steps_ = 0;
  std::int64_t fallbacks_ = 0;
  bool asleep_ = false;
};

/// Pinned buffers in turn: a buffer is given out again only after the copy out of it is done.
class StagingTurn {
 public:
  StagingTurn(int buffers, std::function<bool(int)> copied);
  /// The next buffer, or nothing when its last copy is under way still.
  std::optional<int> acquire();

 private:
  std::function<bool(int)> copied_;
  std::vector<bool> used_;
  int next_ = 0;
};

/// Whether cached attention metadata may be handed to a drafter of this class: only one that is known to ignore it.
bool metadata_cache_allowed(std::string_view drafter_class, const std::vector<std::string>& ignoring);

}  // namespace bk::kernels
