#pragma once
#include <string>

#include "base/file.h"
#include "engine/counters.h"
#include "engine/metrics_page.h"

namespace bk::testing {

/// A file below tests/fixtures; the test fails by exception when it is not there.
inline std::string fixture(const std::string& name) {
  return read_file(std::string(BK_SOURCE_DIR) + "/tests/fixtures/" + name).value();
}

inline engine::Counters counters_of(const std::string& page) {
  return engine::read_counters(engine::parse_metrics(page).value());
}

}  // namespace bk::testing
