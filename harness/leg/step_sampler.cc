#include "leg/step_sampler.h"

#include <algorithm>

#include "engine/body.h"
#include "engine/counters.h"
#include "engine/metrics_client.h"
#include "load/aggregate.h"

namespace bk::leg {
namespace {

// The measured requests take the standing connections first.
constexpr Nanos kFirstReading = 50 * kMillisecond;

http::Request metrics_request(const engine::Endpoint& endpoint) {
  const std::string url = engine::metrics_url(endpoint);
  engine::Endpoint asked = endpoint;
  if (!url.starts_with(endpoint.base_url + "/")) asked.api_key.clear();  // the key is for the endpoint, nobody else
  http::Request request = engine::plain_request(asked, "");
  request.url = url;
  return request;
}

}  // namespace

StepSampler::StepSampler(http::Transport& transport, const engine::Endpoint& endpoint, Nanos window)
    : transport_(transport), endpoint_(endpoint), window_(window), next_(monotonic_now() + kFirstReading) {}

std::vector<double> window_step_rates(const std::vector<StepReading>& readings) {
  std::vector<double> rates;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    const double seconds = to_s(readings[i].at - readings[i - 1].at);
    const double steps = readings[i].steps - readings[i - 1].steps;
    if (seconds > 0 && steps > 0) rates.push_back(steps / seconds);
  }
  const auto middle = load::median(rates);
  if (!middle) return rates;
  rates.erase(std::remove_if(rates.begin(), rates.end(), [&](double rate) { return rate < *middle / 2; }), rates.end());
  return rates;
}

void StepSampler::poll() {
  const Nanos now = monotonic_now();
  if (under_way_ != 0 || now < next_) return;
  next_ = now + window_;
  body_.clear();
  under_way_ = transport_.start(metrics_request(endpoint_), this);
}

void StepSampler::finish() {
  if (under_way_ == 0) return;
  transport_.cancel(under_way_);
  transport_.run(monotonic_now() + kSecond);
}

void StepSampler::on_sent(Nanos at, Nanos, bool) { sent_ = at; }

void StepSampler::on_headers(int status, const std::vector<std::pair<std::string, std::string>>&, Nanos at) {
  status_ = status;
  answered_ = at;
}

void StepSampler::on_bytes(std::string_view bytes, Nanos) { body_ += bytes; }

void StepSampler::on_end(const http::End& end) {
  under_way_ = 0;
  if (end.kind != http::End::Kind::kComplete || status_ != 200) return;
  const auto page = engine::parse_metrics(body_);
  if (!page) return;
  const auto steps = engine::read_counters(*page).engine_steps;
  if (steps) readings_.push_back({sent_ + (answered_ - sent_) / 2, *steps});
}

}  // namespace bk::leg
