#include "metrics_page.h"

#include <fmt/format.h>

namespace bk::sim {
namespace {

// A float as Python prints it: whole numbers end in ".0".
std::string number(double v) {
  if (v == static_cast<double>(static_cast<std::int64_t>(v))) return fmt::format("{:.1f}", v);
  return fmt::format("{}", v);
}

class Page {
 public:
  explicit Page(const MetricsView& view) : view_(view) {}

  void family(const std::string& name, const char* type, const std::string& help) {
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }

  // One line for each rank; the shares of a whole number are whole and add up to it.
  void lines(const std::string& name, double total, const std::string& labels = {}, bool shared = true) {
    for (int rank = 0; rank < view_.engines; ++rank) {
      double value = total;
      if (shared && view_.engines > 1) {
        const auto whole = static_cast<std::int64_t>(total);
        const std::int64_t part = whole / view_.engines + (rank < whole % view_.engines ? 1 : 0);
        value = static_cast<double>(part);
      }
      text_ += fmt::format("{}{{engine=\"{}\",model_name=\"{}\"{}{}}} {}\n", name, rank, view_.model,
                           labels.empty() ? "" : ",", labels, number(value));
    }
  }

  void counter(const std::string& base, const std::string& help, double total) {
    family(base + "_total", "counter", help);
    lines(base + "_total", total);
    created(base, help);
  }

  void created(const std::string& base, const std::string& help, const std::string& labels = {}) {
    if (labels.empty()) family(base + "_created", "gauge", help);
    lines(base + "_created", view_.process_start_s, labels, false);
  }

  void gauge(const std::string& name, const std::string& help, double value, bool shared) {
    family(name, "gauge", help);
    lines(name, value, {}, shared);
  }

  std::string text_;

 private:
  const MetricsView& view_;
};

void spec_decode(Page& page, const physics::EngineCounters& c) {
  if (c.accepted_per_position.empty()) return;  // no speculation configured: the series do not exist
  page.counter("vllm:spec_decode_num_drafts", "Number of spec decoding drafts.", static_cast<double>(c.drafts));
  page.counter("vllm:spec_decode_num_draft_tokens", "Number of draft tokens.", static_cast<double>(c.draft_tokens));
  page.counter("vllm:spec_decode_num_accepted_tokens", "Number of accepted tokens.",
               static_cast<double>(c.accepted_tokens));
  const std::string base = "vllm:spec_decode_num_accepted_tokens_per_pos";
  page.family(base + "_total", "counter", "Accepted tokens per draft position.");
  const auto label = [](std::size_t i) { return fmt::format("position=\"{}\"", i); };
  for (std::size_t i = 0; i < c.accepted_per_position.size(); ++i) {
    page.lines(base + "_total", static_cast<double>(c.accepted_per_position[i]), label(i));
  }
  page.family(base + "_created", "gauge", "Accepted tokens per draft position.");
  for (std::size_t i = 0; i < c.accepted_per_position.size(); ++i) page.created(base, "", label(i));
}

void iteration_histogram(Page& page, const physics::EngineCounters& c) {
  const std::string base = "vllm:iteration_tokens_total";
  page.family(base, "histogram", "Histogram of number of tokens per engine_step.");
  const auto& bounds = physics::iteration_bounds();
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    page.lines(base + "_bucket", static_cast<double>(c.iteration_buckets[i]), fmt::format("le=\"{}.0\"", bounds[i]));
  }
  page.lines(base + "_bucket", static_cast<double>(c.steps), "le=\"+Inf\"");
  page.lines(base + "_count", static_cast<double>(c.steps));
  page.lines(base + "_sum", static_cast<double>(c.iteration_tokens_sum));
  page.created(base, "Histogram of number of tokens per engine_step.");
}

}  // namespace

std::string metrics_page(const MetricsView& view) {
  Page page(view);
  const physics::EngineCounters& c = view.counters;
  page.text_ = fmt::format(
      "# HELP process_start_time_seconds Start time of the process since unix epoch in seconds.\n"
      "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds {:.11e}\n",
      view.process_start_s);
  spec_decode(page, c);
  page.gauge("vllm:num_requests_running", "Number of requests in model execution batches.", view.running, true);
  page.gauge("vllm:num_requests_waiting", "Number of requests waiting to be processed.", view.waiting, true);
  page.gauge("vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", view.kv_usage_ratio, false);
  page.counter("vllm:prefix_cache_queries", "Prefix cache queries, in terms of number of queried tokens.",
               static_cast<double>(c.prefix_queries));
  page.counter("vllm:prefix_cache_hits", "Prefix cache hits, in terms of number of cached tokens.",
               static_cast<double>(c.cached_tokens));
  page.counter("vllm:prompt_tokens", "Number of prefill tokens processed.", static_cast<double>(c.prompt_tokens));
  page.counter("vllm:prompt_tokens_cached", "Number of cached prompt tokens (local + external).",
               static_cast<double>(c.cached_tokens));
  page.counter("vllm:generation_tokens", "Number of generation tokens processed.",
               static_cast<double>(c.generation_tokens));
  iteration_histogram(page, c);
  page.family("vllm:request_success_total", "counter", "Count of successfully processed requests.");
  page.lines("vllm:request_success_total", static_cast<double>(view.finished_stop), "finished_reason=\"stop\"");
  page.lines("vllm:request_success_total", static_cast<double>(view.finished_length), "finished_reason=\"length\"");
  page.lines("vllm:request_success_total", static_cast<double>(view.finished_abort), "finished_reason=\"abort\"");
  return page.text_;
}

}  // namespace bk::sim
