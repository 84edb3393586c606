#include "prep_fused/guard.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace bk::kernels {
namespace {

/// Runs `call`; an exception becomes its text.
template <class Call>
std::string caught(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what()[0] != '\0' ? error.what() : "an exception without a text";
  } catch (...) {
    return "an exception of unknown type";
  }
  return {};
}

}  // namespace

PrepChoice parse_prep_mode(std::string_view text) {
  if (text.empty() || text == "0" || text == "off") return {PrepMode::kOff, {}};
  if (text == "shadow") return {PrepMode::kShadow, {}};
  if (text == "1" || text == "on") return {PrepMode::kOn, {}};
  return {PrepMode::kOff, "'" + std::string(text) + "' is none of off, shadow, on"};
}

PrepGuard::PrepGuard(std::string_view knob) {
  PrepChoice choice = parse_prep_mode(knob);
  mode_ = choice.mode;
  reason_ = std::move(choice.refused);
}

void PrepGuard::disarm(std::string why) {
  if (reason_.empty()) reason_ = std::move(why);
}

bool PrepGuard::try_fused(PrepWork& work) {
  bool served = false;
  const std::string error = caught([&] { served = work.fused(); });
  if (!error.empty()) {
    disarm("the fused step threw: " + error);
  } else if (!served) {
    disarm("the fused step's launch failed");
  }
  return error.empty() && served;
}

PrepReport PrepGuard::compare(PrepWork& work) {
  const std::string unkept = caught([&] { work.keep(); });
  work.stock();
  if (!unkept.empty()) {
    disarm("the fused results could not be kept: " + unkept);
    return {};
  }
  std::int64_t off = 0;
  const std::string error = caught([&] { off = work.drift(); });
  if (!error.empty()) disarm("the comparison threw: " + error);
  if (off != 0) disarm("drift: " + std::to_string(off) + " numbers differ at step " + std::to_string(steps_));
  return {PrepServed::kStock, error.empty()};
}

void PrepGuard::warm_up(PrepWork& work) {
  if (!armed()) return;
  std::string why;
  const std::string error = caught([&] { why = work.refuse(); });
  if (!error.empty()) return disarm("a guard threw while warming up: " + error);
  if (!why.empty()) return disarm("warm-up refused: " + why);
  if (try_fused(work)) compare(work);
}

PrepReport PrepGuard::step(PrepWork& work) {
  const auto by_stock = [&] {
    work.stock();
    return PrepReport{};
  };
  if (!armed() || asleep_) return by_stock();
  std::string why;
  const std::string error = caught([&] { why = work.refuse(); });
  if (!error.empty()) {
    disarm("a guard threw: " + error);
    return by_stock();
  }
  if (!why.empty()) {
    ++fallbacks_;
    return by_stock();
  }
  if (!try_fused(work)) return by_stock();
  const bool due = mode_ == PrepMode::kShadow || steps_ % kSelfCheckSteps == 0;
  const PrepReport report = due ? compare(work) : PrepReport{PrepServed::kFused, false};
  ++steps_;
  return report;
}

StagingTurn::StagingTurn(int buffers, std::function<bool(int)> copied)
    : copied_(std::move(copied)), used_(static_cast<std::size_t>(buffers), false) {}

std::optional<int> StagingTurn::acquire() {
  const int buffer = next_;
  if (used_[buffer] && !copied_(buffer)) return std::nullopt;
  used_[buffer] = true;
  next_ = (next_ + 1) % static_cast<int>(used_.size());
  return buffer;
}

bool metadata_cache_allowed(std::string_view drafter_class, const std::vector<std::string>& ignoring) {
  return std::find(ignoring.begin(), ignoring.end(), drafter_class) != ignoring.end();
}

}  // namespace bk::kernels
