#include "oneshot_ar/gate.h"

#include <utility>

#include "oneshot_ar/oneshot_ar.h"

namespace bk::kernels {

OneshotGate::OneshotGate(std::string_view knob, AllAgree all_agree) : all_agree_(std::move(all_agree)) {
  const bool wanted = knob == "1";
  if (!wanted && !knob.empty() && knob != "0") reason_.append("'").append(knob).append("' is neither 0 nor 1");
  vote(wanted, "the knob is off");
}

bool OneshotGate::vote(bool mine, const std::string& what) {
  const bool all = all_agree_(mine);
  if (all) return possible_;
  possible_ = armed_ = false;
  if (reason_.empty()) reason_ = mine ? what + ", on another rank" : what;
  return false;
}

bool OneshotGate::prepare(const std::string& what, const std::function<bool()>& work) {
  if (!possible_) return false;  // on every rank alike
  bool mine = false;
  try {
    mine = work();
  } catch (...) {
    mine = false;
  }
  return vote(mine, what + " failed");
}

bool OneshotGate::arm() {
  armed_ = possible_;
  return armed_;
}

bool OneshotGate::review(bool healthy) {
  if (!armed_) return false;
  return vote(healthy, "a peer stayed away");
}

bool OneshotGate::serves(std::int64_t elements, bool is_bf16, bool is_contiguous, int world) const {
  return armed_ && is_bf16 && is_contiguous && world >= 2 && world <= BK_ONESHOT_MAX_WORLD && elements > 0 &&
         elements % 2 == 0 && elements <= BK_ONESHOT_MAX_ELEMENTS;
}

}  // namespace bk::kernels
