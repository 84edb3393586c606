#include "acc_line.h"

#include <fmt/format.h>

#include "report/number.h"
#include "tool/bench.h"

namespace bk {

Result<stats::AccFit> acc_fit_of(const std::vector<load::Sample>& samples) {
  std::vector<stats::AccPoint> points;
  for (const load::Sample& sample : samples) {
    const auto rate = tool::metric_of(sample, "round_tok_s");
    if (sample.warmup || sample.concurrency != 1 || !rate || !sample.acceptance.value) continue;
    points.push_back({sample.acceptance.value->legacy, *rate});
  }
  return stats::acc_fit(points);
}

std::string acc_text(const Result<stats::AccFit>& fit) {
  if (!fit) return "C=1 at acc=50: none; " + fit.error().what + "\n";
  return fmt::format(
      "C=1 at acc=50: {} tok/s, at acc=55: {} tok/s (round rate, legacy acceptance; n {}, {} tok/s a point, sigma "
      "{})\n",
      report::number(fit->at_50), report::number(fit->at_55), fit->n, report::number(fit->slope_per_point, 3),
      report::number(fit->sigma, 3));
}

Json acc_json(const Result<stats::AccFit>& fit) {
  Json json = Json::object();
  json.set("metric", "round_tok_s").set("n", fit ? Json(fit->n) : Json());
  json.set("at_acc50_tok_s", fit ? Json(fit->at_50) : Json()).set("at_acc55_tok_s", fit ? Json(fit->at_55) : Json());
  json.set("slope_tok_s_per_point", fit ? Json(fit->slope_per_point) : Json());
  json.set("sigma_tok_s", fit ? Json(fit->sigma) : Json());
  return json.set("reason", fit ? Json() : Json(fit.error().what));
}

}  // namespace bk
