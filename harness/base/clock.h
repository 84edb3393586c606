#pragma once
#include <cstdint>
#include <string>

namespace bk {

/// CLOCK_MONOTONIC nanoseconds, or a difference of two of them.
using Nanos = std::int64_t;
inline constexpr Nanos kMicrosecond = 1'000;
inline constexpr Nanos kMillisecond = 1'000'000;
inline constexpr Nanos kSecond = 1'000'000'000;

[[nodiscard]] constexpr double to_ms(Nanos t) { return static_cast<double>(t) / 1e6; }
[[nodiscard]] constexpr double to_s(Nanos t) { return static_cast<double>(t) / 1e9; }
[[nodiscard]] constexpr Nanos from_s(double s) { return static_cast<Nanos>(s * 1e9); }
[[nodiscard]] constexpr Nanos from_ms(double ms) { return static_cast<Nanos>(ms * 1e6); }

/// Now on CLOCK_MONOTONIC, in nanoseconds.
[[nodiscard]] Nanos monotonic_now();
/// Now on CLOCK_REALTIME, in nanoseconds since the epoch: a stamp, never a basis for a difference.
[[nodiscard]] Nanos wall_now();
/// "2026-11-29T20:01:02Z" of a wall stamp.
[[nodiscard]] std::string format_utc(Nanos wall);
/// CPU time (user + system) that this process has used, in nanoseconds.
[[nodiscard]] Nanos process_cpu_now();

/// The outside world's time, so that waiting code can be tested on a clock of its own.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Nanos now() = 0;
  virtual void sleep_until(Nanos t) = 0;
};

class SystemClock final : public Clock {
 public:
  Nanos now() override { return monotonic_now(); }
  void sleep_until(Nanos t) override;
};

/// Stands still until told otherwise; sleeping moves it.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(Nanos start = 0) : now_(start) {}
  Nanos now() override { return now_; }
  void sleep_until(Nanos t) override { now_ = t > now_ ? t : now_; }
  void advance(Nanos d) { now_ += d; }

 private:
  Nanos now_;
};

}  // namespace bk
