#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace bk::engine {

/// A server as a client reaches it. The key appears in no output: print endpoints with describe().
struct Endpoint {
  std::string base_url;     ///< up to and without /v1, e.g. http://127.0.0.1:8000
  std::string model;        ///< empty: resolved from /v1/models
  std::string metrics_url;  ///< empty: base_url + /metrics
  std::string api_key;      ///< empty: no Authorization header
  std::vector<std::pair<std::string, std::string>> headers;
  Json extra_body;  ///< members merged into every request body; null: none

  [[nodiscard]] std::string describe() const { return base_url + (model.empty() ? "" : " model " + model); }
};

}  // namespace bk::engine
