#pragma once
#include "boot/launcher.h"
#include "store/store.h"

namespace bk::bracket {

/// Writes what a boot showed when it was ready: its row (state "running") and one row for each proof.
[[nodiscard]] Status store_facts(store::Database& database, const boot::Profile& profile, const boot::BootFacts& facts,
                                 store::BootRow& row);

/// Ok while the engine lives. A dying engine closes its streams before its process is gone: after a failed request it
/// is given a second to be explained.
[[nodiscard]] Status alive_after_failure(boot::Booted& engine);

}  // namespace bk::bracket
