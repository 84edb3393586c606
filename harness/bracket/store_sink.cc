#include "bracket/store_sink.h"

#include "bracket/rows.h"

namespace bk::bracket {

Status StoreSink::sample(const load::Sample& sample) {
  store::SampleRow row = to_row(sample);
  row.leg_id = leg_;
  BK_TRY(database_.add_sample(row));
  return next_.sample(sample);
}

Status StoreSink::gate(const leg::GateResult& gate) {
  store::GateRow row = to_row(gate);
  row.leg_id = leg_;
  BK_TRY(database_.add_gate(row));
  return next_.gate(gate);
}

}  // namespace bk::bracket
