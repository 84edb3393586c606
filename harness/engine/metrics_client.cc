#include "engine/metrics_client.h"

#include <utility>

#include "engine/body.h"
#include "engine/counters.h"

namespace bk::engine {
namespace {

constexpr Nanos kLimit = 10 * kSecond;

std::string refusal(const http::Response& response) {
  const std::string message = error_message(response.body);
  const std::string said = message.empty() ? "" : ": " + message;
  if (response.status == 501) return "metrics are off on this server (HTTP 501" + said + ")";
  if (response.status == 404) return "this server has no metrics page (HTTP 404)";
  return fmt::format("the metrics page was refused (HTTP {}{})", response.status, said);
}

}  // namespace

std::string metrics_url(const Endpoint& endpoint) {
  return endpoint.metrics_url.empty() ? endpoint.base_url + "/metrics" : endpoint.metrics_url;
}

Result<MetricsPage> fetch_metrics(http::Transport& transport, const Endpoint& endpoint) {
  const std::string url = metrics_url(endpoint);
  http::Timeouts timeouts;
  timeouts.total = kLimit;
  Endpoint asked = endpoint;
  if (!url.starts_with(endpoint.base_url + "/")) asked.api_key.clear();  // the key is for the endpoint, nobody else
  http::Request request = plain_request(asked, "", {}, timeouts);
  request.url = url;
  auto response = http::fetch(transport, std::move(request));
  if (!response) return fail(Errc::kUnavailable, "no answer from the metrics page: " + response.error().what, url);
  if (response->status < 200 || response->status > 299) return fail(Errc::kUnavailable, refusal(*response), url);
  auto page = parse_metrics(response->body);
  if (!page) return fail(Errc::kParse, page.error().what, url);
  return std::move(*page);
}

Result<Counters> fetch_counters(http::Transport& transport, const Endpoint& endpoint) {
  BK_ASSIGN(const MetricsPage page, fetch_metrics(transport, endpoint));
  return read_counters(page);
}

}  // namespace bk::engine
