#include <fmt/format.h>

#include "delta.h"
#include "report/number.h"
#include "report/table.h"

namespace bk::metrics_delta {
namespace {

std::string plain(const std::optional<double>& value) {
  return value ? fmt::format("{:.10g}", *value) : report::kMissing;
}

std::string figure(const stream::Figure& value) {
  return value.value ? report::number(value.value, 4) : fmt::format("- ({})", value.reason);
}

std::string counters_table(const Delta& delta) {
  std::vector<std::vector<std::string>> rows;
  for (const Line& line : delta.lines) {
    if (!line.before && !line.after) continue;
    const std::string change = line.delta.value ? plain(line.delta.value) : fmt::format("- ({})", line.delta.reason);
    rows.push_back({line.name, plain(line.before), plain(line.after), line.counter ? change : "gauge"});
  }
  if (rows.empty()) return "no known counter on either page\n";
  using report::Align;
  return report::table({"counter", "before", "after", "delta"},
                       {Align::kLeft, Align::kRight, Align::kRight, Align::kRight}, rows);
}

std::string acceptance_text(const engine::AcceptanceDelta& delta) {
  if (!delta.value) return fmt::format("acceptance: - ({})\n", delta.reason);
  const engine::Acceptance& a = *delta.value;
  std::string positions;
  for (const double rate : a.per_position) positions += " " + report::fixed(100 * rate, 1);
  return fmt::format(
      "acceptance: raw {} % (accepted / draft tokens), legacy {} % (older ledger: raw * 2k / (k + 1)), tokens per step "
      "{}, k_eff {}\n{}",
      report::fixed(100 * a.raw, 1), report::fixed(100 * a.legacy, 1), report::fixed(a.tokens_per_step, 3),
      report::fixed(a.k_eff, 2), positions.empty() ? "" : "per position [%]:" + positions + "\n");
}

std::string sglang_text(const engine::Counters& counters) {
  std::string text;
  double sum = 0;
  for (const auto& [rank, length] : counters.accept_length_by_rank) {
    text += fmt::format(" dp_rank {}: {}", rank, report::number(length, 3));
    sum += length;
  }
  const double mean = sum / static_cast<double>(counters.accept_length_by_rank.size());
  return fmt::format("acceptance length (gauges, second page):{}; plain mean {}\n", text, report::number(mean, 3));
}

}  // namespace

std::string to_table(const Delta& delta) {
  std::string text;
  for (const Page* page : {&delta.before, &delta.after}) {
    if (!page->counters) text += fmt::format("{}: {}\n", page->source, page->reason);
  }
  text += counters_table(delta) + acceptance_text(delta.acceptance);
  const auto& after = delta.after.counters;
  if (after && !after->accept_length_by_rank.empty()) text += sglang_text(*after);
  if (delta.rates.decode_tok_s.value || delta.rates.prompt_tok_s.value) {
    text += fmt::format("rates by the server's clocks: decode {} tok/s, prompt {} tok/s\n",
                        figure(delta.rates.decode_tok_s), figure(delta.rates.prompt_tok_s));
  }
  for (const std::string& name : delta.continuity.resets) text += "reset: " + name + "\n";
  if (delta.continuity.restarted) text += "the engine was restarted between the pages\n";
  return text;
}

}  // namespace bk::metrics_delta
