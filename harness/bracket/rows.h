#pragma once
#include "leg/sink.h"
#include "load/sample.h"
#include "store/rows.h"

namespace bk::bracket {

/// What a leg measured, as rows of the database. Ids of the parents are left to the caller.
[[nodiscard]] store::RequestRow to_row(const stream::RequestRecord& record, std::int64_t position);
[[nodiscard]] store::SampleRow to_row(const load::Sample& sample);
[[nodiscard]] store::GateRow to_row(const leg::GateResult& gate);

}  // namespace bk::bracket
