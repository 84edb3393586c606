#include "engine/counters.h"

#include <array>
#include <cmath>
#include <string_view>

#include "base/text.h"

namespace bk::engine {
namespace {

using Slot = std::optional<double> Counters::*;

/// One engine's exact name of a counter (summed over label sets) or of a gauge.
struct Name {
  std::string_view name;
  Slot slot;
  bool counter;
};

constexpr std::array kNames = {
    Name{"vllm:spec_decode_num_drafts_total", &Counters::drafts, true},
    Name{"vllm:spec_decode_num_draft_tokens_total", &Counters::draft_tokens, true},
    Name{"vllm:spec_decode_num_accepted_tokens_total", &Counters::accepted_tokens, true},
    Name{"vllm:generation_tokens_total", &Counters::generation_tokens, true},
    Name{"vllm:prompt_tokens_total", &Counters::prompt_tokens, true},
    Name{"vllm:iteration_tokens_total_count", &Counters::engine_steps, true},
    Name{"vllm:num_requests_running", &Counters::running, false},
    Name{"vllm:num_requests_waiting", &Counters::waiting, false},
    Name{"llamacpp:spec_decode_num_drafts_total", &Counters::drafts, true},
    Name{"llamacpp:spec_decode_num_draft_tokens_total", &Counters::draft_tokens, true},
    Name{"llamacpp:spec_decode_num_accepted_tokens_total", &Counters::accepted_tokens, true},
    Name{"llamacpp:tokens_predicted_total", &Counters::generation_tokens, true},
    Name{"llamacpp:tokens_predicted_seconds_total", &Counters::generation_s, true},
    Name{"llamacpp:prompt_tokens_total", &Counters::prompt_tokens, true},
    Name{"llamacpp:prompt_seconds_total", &Counters::prompt_s, true},
    Name{"llamacpp:n_decode_total", &Counters::engine_steps, true},
    Name{"llamacpp:requests_processing", &Counters::running, false},
    Name{"llamacpp:requests_deferred", &Counters::waiting, false},
    Name{"llamacpp:n_busy_slots_per_decode", &Counters::busy_slots, false},
    Name{"sglang:generation_tokens_total", &Counters::generation_tokens, true},
    Name{"sglang:prompt_tokens_total", &Counters::prompt_tokens, true},
    Name{"sglang:num_running_reqs", &Counters::running, false},
    Name{"sglang:num_queue_reqs", &Counters::waiting, false},
};

constexpr std::string_view kPerPosition = "spec_decode_num_accepted_tokens_per_pos_total";
constexpr std::string_view kAcceptLength = "sglang:spec_accept_length";

const Name* find_name(std::string_view name) {
  for (const Name& known : kNames) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

/// Tensor- and pipeline-parallel ranks export copies of one number: those labels are left out of a series' key.
bool is_copy_label(std::string_view key) { return key == "tp_rank" || key == "pp_rank" || key == "moe_ep_rank"; }

std::string series_key(const MetricSample& sample) {
  std::string key = sample.name;
  for (const auto& [label, value] : sample.labels) {
    if (!is_copy_label(label)) key += "|" + label + "=" + value;
  }
  return key;
}

std::string_view dialect_of(std::string_view name) {
  for (const std::string_view dialect : {"vllm", "llamacpp", "sglang"}) {
    if (name.starts_with(dialect) && name.size() > dialect.size() && name[dialect.size()] == ':') return dialect;
  }
  return {};
}

bool is_per_position(std::string_view name) {
  const std::string_view dialect = dialect_of(name);
  return !dialect.empty() && name.substr(dialect.size() + 1) == kPerPosition;
}

class CounterReader {
 public:
  explicit CounterReader(const MetricsPage& page) {
    for (const MetricSample& sample : page.samples) read(sample);
  }
  [[nodiscard]] Counters take() { return std::move(counters_); }

 private:
  void read(const MetricSample& sample) {
    if (std::isnan(sample.value) || std::isinf(sample.value)) return;
    if (counters_.dialect.empty()) counters_.dialect = dialect_of(sample.name);
    if (sample.name == "process_start_time_seconds") counters_.process_start_s = sample.value;
    if (sample.name == kAcceptLength) {
      const std::string* rank = sample.label("dp_rank");
      counters_.accept_length_by_rank[rank == nullptr ? "0" : *rank] = sample.value;
    }
    if (is_per_position(sample.name)) {
      read_position(sample);
    } else if (const Name* known = find_name(sample.name)) {
      read_known(sample, *known);
    } else {
      read_created(sample);
    }
  }

  void read_known(const MetricSample& sample, const Name& known) {
    std::optional<double>& slot = counters_.*known.slot;
    slot = slot.value_or(0.0) + added(sample, known.counter ? counters_.series : gauges_);
  }

  void read_position(const MetricSample& sample) {
    const std::string* label = sample.label("position");
    const auto position = label == nullptr ? std::nullopt : parse_int(*label);
    if (!position || *position < 0 || *position > 1000) return;
    counters_.accepted_per_position[static_cast<int>(*position)] += added(sample, counters_.series);
  }

  /// What the sample adds to its sum: a copy (or a repetition) of a series replaces what the first one added.
  static double added(const MetricSample& sample, std::map<std::string, double>& seen) {
    double& value = seen[series_key(sample)];
    const double change = sample.value - value;
    value = sample.value;
    return change;
  }

  void read_created(const MetricSample& sample) {
    constexpr std::string_view kSuffix = "_created";
    if (!std::string_view(sample.name).ends_with(kSuffix)) return;
    const std::string total = sample.name.substr(0, sample.name.size() - kSuffix.size()) + "_total";
    if (find_name(total) == nullptr && !is_per_position(total)) return;
    counters_.created[series_key(sample)] = sample.value;
  }

  Counters counters_;
  std::map<std::string, double> gauges_;
};

}  // namespace

Counters read_counters(const MetricsPage& page) { return CounterReader(page).take(); }

}  // namespace bk::engine
