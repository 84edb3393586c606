#pragma once
#include <string>

#include "base/result.h"
#include "engine/acceptance.h"
#include "engine/endpoint.h"
#include "engine/metrics_page.h"
#include "http/transport.h"

namespace bk::engine {

/// endpoint.metrics_url, or base_url + "/metrics".
[[nodiscard]] std::string metrics_url(const Endpoint& endpoint);

/// GETs the page (10 s at most). kUnavailable, saying why, for a server without metrics (404), with metrics off (501),
/// or dead; kParse for a body that is no metrics page. Never zeros.
[[nodiscard]] Result<MetricsPage> fetch_metrics(http::Transport& transport, const Endpoint& endpoint);

/// The same page, read into counters.
[[nodiscard]] Result<Counters> fetch_counters(http::Transport& transport, const Endpoint& endpoint);

}  // namespace bk::engine
