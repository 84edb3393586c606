#include "load/runner.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "http/file_limit.h"
#include "http/secrets.h"
#include "stream/timeline.h"

namespace bk::load {
namespace {

constexpr Nanos kPoll = 100 * kMillisecond;

using Headers = std::vector<std::pair<std::string, std::string>>;

stream::StreamEnd::Kind kind_of(http::End::Kind kind) {
  using From = http::End::Kind;
  using To = stream::StreamEnd::Kind;
  switch (kind) {
    case From::kComplete:
      return To::kComplete;
    case From::kCut:
      return To::kCut;
    case From::kConnectFailed:
      return To::kConnectFailed;
    case From::kTimedOut:
      return To::kTimedOut;
    case From::kCancelled:
      return To::kCancelled;
    case From::kProtocol:
      break;
  }
  return To::kProtocol;
}

/// One request under way: what the transport tells becomes the record.
class Flight final : public http::Handler {
 public:
  Flight(const stream::TimelineOptions& options, std::function<void(Flight&)> done)
      : timeline_(options), done_(std::move(done)) {}

  void scheduled(Nanos at) { timeline_.scheduled(at); }
  void on_sent(Nanos at, Nanos connect, bool reused) override { timeline_.sent(at, connect, reused); }
  void on_headers(int status, const Headers& headers, Nanos at) override {
    std::string_view type;
    for (const auto& [name, value] : headers) {
      if (name == "content-type") type = value;
      if (name == "content-encoding" && value != "identity") encoding_ = value;
    }
    redirected_ = http::redirected_answer(status, headers);
    timeline_.headers(status, type, at);
  }
  void on_bytes(std::string_view bytes, Nanos arrival) override { timeline_.bytes(bytes, arrival); }
  void on_reopened() override { timeline_.reopened(); }
  void on_end(const http::End& end) override {
    ended_at = end.at;
    record = timeline_.finish({kind_of(end.kind), end.message, end.at});
    // Compressed bytes are no events: whatever they were taken for, this is why.
    if (!record.ok() && !encoding_.empty()) record.reason = http::encoded_answer(encoding_);
    if (!redirected_.empty()) record.reason = redirected_;
    for (std::string* text : {&record.reason, &record.finish_reason, &record.model, &record.content, &record.reasoning,
                              &record.tool_calls}) {
      *text = redact(std::move(*text), secrets);
    }
    ended = true;
    done_(*this);
  }

  stream::RequestRecord record;
  Nanos ended_at = 0;
  bool ended = false;
  http::TransferId id = 0;
  std::vector<std::string> secrets;

 private:
  std::string encoding_, redirected_;
  stream::Timeline timeline_;
  std::function<void(Flight&)> done_;
};

/// One call of run_requests.
class Runner {
 public:
  Runner(http::Transport& transport, std::vector<PlannedRequest> plan, const RunOptions& options)
      : transport_(transport), plan_(std::move(plan)), options_(options) {}

  Run run() {
    prepare();
    const Nanos cpu = process_cpu_now();
    const Nanos wall = monotonic_now();
    run_.started_wall = wall_now();
    run_.started = wall;
    for (std::size_t next = 0; next < order_.size() || left_ > 0;) {
      if (stop()) break;
      next = start_due(next);
      serve(next);
    }
    const Nanos now = monotonic_now();
    run_.client.cpu_share = now > wall ? to_s(process_cpu_now() - cpu) / to_s(now - wall) : 0;
    run_.client.worst_delay = transport_.take_worst_delay();
    collect();
    return std::move(run_);
  }

 private:
  void prepare() {
    flights_.reserve(plan_.size());
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      stream::TimelineOptions timeline;
      timeline.exact_tokens = plan_[i].expected_tokens;
      timeline.keep_text = options_.keep_text;
      flights_.push_back(std::make_unique<Flight>(timeline, [this, i](Flight& flight) {
        --left_;
        if (options_.on_done) options_.on_done(i, flight.record);
        start_followers(i);
      }));
      if (plan_[i].after) {
        followers_.emplace(*plan_[i].after, i);
      } else {
        order_.push_back(i);
      }
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [this](std::size_t a, std::size_t b) { return plan_[a].offset < plan_[b].offset; });
    // A failure here shows again, with its reason, in the request that it concerns.
    (void)http::allow_open_files(plan_.size());
    if (options_.preconnect && !order_.empty()) (void)transport_.preconnect(plan_[0].request.url, at_once());
    (void)transport_.take_worst_delay();
  }

  // Connections that the first moment needs: later requests find those of earlier ones, or connect apart from TTFT.
  [[nodiscard]] int at_once() const {
    const Nanos first = plan_[order_[0]].offset;
    return static_cast<int>(
        std::count_if(order_.begin(), order_.end(), [this, first](std::size_t i) { return plan_[i].offset == first; }));
  }

  [[nodiscard]] Nanos due(std::size_t next) const { return run_.started + plan_[order_[next]].offset; }

  std::size_t start_due(std::size_t next) {
    while (next < order_.size() && due(next) <= monotonic_now()) {
      start(order_[next], due(next));
      ++next;
    }
    return next;
  }

  void start(std::size_t index, Nanos scheduled) {
    Flight& flight = *flights_[index];
    flight.scheduled(scheduled);
    flight.secrets = http::secrets_of(plan_[index].request);
    flight.id = transport_.start(std::move(plan_[index].request), &flight);
    ++left_;
  }

  void start_followers(std::size_t index) {
    if (stopping_) return;
    const auto [first, last] = followers_.equal_range(index);
    for (auto it = first; it != last; ++it) start(it->second, flights_[index]->ended_at);
  }

  void serve(std::size_t next) {
    Nanos until = options_.stopped ? monotonic_now() + kPoll : 0;
    if (next < order_.size()) until = until == 0 ? due(next) : std::min(until, due(next));
    if (transport_.run(until) == 0 && next < order_.size() && !(options_.stopped && options_.stopped())) {
      SystemClock().sleep_until(until);
    }
  }

  bool stop() {
    if (!options_.stopped || !options_.stopped()) return false;
    stopping_ = true;
    for (auto& flight : flights_) {
      if (flight->id != 0 && !flight->ended) transport_.cancel(flight->id);
    }
    transport_.run(monotonic_now() + kSecond);
    return true;
  }

  void collect() {
    run_.ended = run_.started;
    for (auto& flight : flights_) {
      if (!flight->ended) flight->on_end({http::End::Kind::kCancelled, "stopped before it was sent", monotonic_now()});
      run_.ended = std::max(run_.ended, flight->ended_at);
      run_.requests.push_back(std::move(flight->record));
    }
  }

  http::Transport& transport_;
  std::vector<PlannedRequest> plan_;
  const RunOptions& options_;
  std::vector<std::unique_ptr<Flight>> flights_;
  std::vector<std::size_t> order_;                     ///< requests with a time of their own, by that time
  std::multimap<std::size_t, std::size_t> followers_;  ///< request -> those that start when it has ended
  std::size_t left_ = 0;
  bool stopping_ = false;
  Run run_;
};

}  // namespace

Run run_requests(http::Transport& transport, std::vector<PlannedRequest> plan, const RunOptions& options) {
  return Runner(transport, std::move(plan), options).run();
}

void take_run(Run run, Sample* sample) {
  sample->started = run.started;
  sample->ended = run.ended;
  sample->started_wall = run.started_wall;
  sample->requests = std::move(run.requests);
  sample->client = run.client;
}

}  // namespace bk::load
