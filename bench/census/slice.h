#pragma once
#include <string>

#include "base/result.h"
#include "trace/reader.h"
#include "trace/steps.h"

namespace bk::census {

/// The events of `path` that overlap the step without enclosing it, the arrows between them, and all metadata
/// (ph "M"), byte for byte, as a trace that ui.perfetto.dev and chrome://tracing open. These show events of one tid
/// only where they are apart or nest: an event that crosses another one gets the tid "TID, lane 2". Reads the trace
/// once more.
[[nodiscard]] Result<std::string> slice_text(const std::string& path, trace::ReadOptions options,
                                             const trace::Step& step);

}  // namespace bk::census
