#include "hot_command.h"

#include <fmt/ostream.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "base/text.h"
#include "bracket/forecast.h"
#include "cli/format.h"
#include "judged_text.h"
#include "plan_flags.h"
#include "report/number.h"
#include "report/table.h"
#include "show.h"
#include "stats/assessment_json.h"
#include "stats/summary.h"

namespace bk::bracket_tool {
namespace {

constexpr const char* kMetric = "decode_tok_s";

/// The endpoint with an arm's fields on top of what every request carries.
engine::Endpoint with_fields(engine::Endpoint endpoint, const Json& fields) {
  Json body = endpoint.extra_body.is_null() ? Json::object() : endpoint.extra_body;
  for (const auto& [name, value] : fields.members()) body.set(name, value);
  endpoint.extra_body = std::move(body);
  return endpoint;
}

std::vector<stats::Pair> pairs_of(const std::vector<load::Sample>& samples) {
  std::map<int, std::pair<std::optional<stats::SampleValue>, std::optional<stats::SampleValue>>> by_pair;
  for (const load::Sample& sample : samples) {
    const auto value = tool::metric_of(sample, kMetric);
    if (sample.warmup || !value) continue;
    stats::SampleValue one{*value, std::nullopt};
    if (sample.acceptance.value) {
      one.acceptance = sample.acceptance.value->raw;
      one.k_eff = sample.acceptance.value->k_eff;
    }
    auto& pair = by_pair[sample.index];
    (sample.cell == leg::kCandCell ? pair.second : pair.first) = one;
  }
  std::vector<stats::Pair> pairs;
  for (const auto& [index, pair] : by_pair) {
    if (pair.first && pair.second) pairs.push_back({*pair.first, *pair.second});
  }
  return pairs;
}

void print_arms(std::ostream& out, const std::vector<stats::Pair>& pairs, const std::string& base,
                const std::string& cand) {
  std::vector<std::vector<std::string>> rows;
  for (const bool is_cand : {false, true}) {
    std::vector<double> values;
    std::vector<std::optional<double>> acceptance;
    for (const stats::Pair& p : pairs) {
      const stats::SampleValue& s = is_cand ? p.cand : p.base;
      values.push_back(s.value);
      if (s.acceptance) acceptance.emplace_back(100 * *s.acceptance);
    }
    const stats::Summary v = stats::summarize(values);
    rows.push_back({is_cand ? "cand" : "base", is_cand ? cand : base, report::number(v.median), report::number(v.min),
                    report::number(v.max), report::fixed(stats::summarize(acceptance).mean, 1)});
  }
  using report::Align;
  out << report::table({"arm", "fields", "median [tok/s]", "min", "max", "acceptance [%]"},
                       {Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight}, rows);
}

std::string flip_text(const stats::PairCheck& check) {
  if (!check.sign_flip_p) return "- (fewer than 2 pairs)";
  return fmt::format(
      "p {:.2g} of the raw effect, {}", *check.sign_flip_p,
      check.exact ? "every assignment of signs counted" : fmt::format("{} assignments of signs thrown", stats::kFlips));
}

cli::ExitCode exit_code(stats::State state) {
  if (state == stats::State::kWorse) return cli::ExitCode::kFailed;
  return state == stats::State::kInconclusive ? cli::ExitCode::kInconclusive : cli::ExitCode::kDone;
}

}  // namespace

Result<Json> parse_fields(const std::string& text, const std::string& flag) {
  Json fields = Json::object();
  for (const std::string_view part : split(text, ',')) {
    if (trim(part).empty()) continue;
    const std::size_t at = part.find('=');
    if (at == std::string_view::npos || trim(part.substr(0, at)).empty()) {
      return fail(Errc::kUsage, "a request field is NAME=VALUE", flag + " " + std::string(part));
    }
    const std::string value(trim(part.substr(at + 1)));
    const auto json = parse_json(value);
    fields.set(std::string(trim(part.substr(0, at))), json ? *json : Json(value));
  }
  return fields;
}

void HotCommand::register_on(cli::App& app) {
  app.description(
      "Judges what needs no reboot: a request field, or two live servers. Base and candidate are asked in turn, in "
      "random order, and the pair is the unit. Two servers are two boots: taking turns removes drift and not the "
      "difference between boots, so what --profile's earlier base boots show of it enters the interval.\n\n"
      "Exit code: 0 better or same, 1 worse, 4 inconclusive.");
  app.example("bracket hot --base temperature=0.95 --cand temperature=0.2", "a field of the request");
  app.example("bracket hot --base-url http://a:8000 --cand-url http://b:8000 --profile vllm", "two live servers");
  app.section("ARMS");
  app.option("--base", base_, "fields of the base's requests").value("F=V,…").no_default();
  app.option("--cand", cand_, "fields of the candidate's requests").value("F=V,…").no_default();
  app.option("--cand-url", cand_url_, "the candidate's own server; without it both arms ask --base-url")
      .value("URL")
      .no_default();
  flags_.add_to(app, {cli::Common::kConnection, cli::Common::kExtraBody, cli::Common::kMetrics, cli::Common::kProfile});
  app.section("MEASUREMENT");
  app.option("--pairs", plan_.pairs, "measured pairs").range(2, 1'000'000).value("N");
  app.option("--warmup", plan_.warmup, "pairs discarded before").range(0, 1000).value("N");
  app.option("--tokens", plan_.max_tokens, "most tokens of an answer").range(2, 1'000'000).value("N");
  app.option("--temperature", plan_.temperature, "sampling temperature").range(0, 2);
  app.option("--alpha", alpha_, "false alarms that are accepted").range(0.0001, 0.5).value("P");
  app.option("--band", band_pct_, "effects within it do not matter, in percent").range(0, 100).value("PCT");
  flags_.add_to(app,
                {cli::Common::kSeed, cli::Common::kDb, cli::Common::kOut, cli::Common::kDryRun, cli::Common::kQuiet});
  cli::add_format(app, flags_, {"table", "json"});
}

Result<std::optional<stats::BootVariance>> HotCommand::between_boots() const {
  if (cand_url_.empty()) return std::optional<stats::BootVariance>();
  if (flags_.profile.empty()) {
    return fail(Errc::kUsage, "two servers are two boots: name the profile whose earlier boots say how boots differ",
                "--profile");
  }
  BK_ASSIGN(const boot::Profile profile, profile_of(flags_.profile));
  bracket::PlanOptions options;
  options.decode.reps = plan_.pairs;
  BK_ASSIGN(const bracket::Plan plan, bracket::make_same_plan(profile, {}, bracket::boot_order(2), options));
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db));
  BK_ASSIGN(const bracket::BaseHistory history, bracket::base_history(database, plan, std::nullopt));
  const bracket::BootNoise noise = bracket::boot_noise(history, plan);
  if (noise.assumed()) return std::optional(stats::BootVariance{});
  return std::optional(stats::BootVariance{noise.sd * noise.sd, noise.df});
}

stats::PairAssessment HotCommand::judge(const std::vector<load::Sample>& samples) const {
  stats::Rules rules;
  rules.alpha = alpha_;
  rules.band = band_pct_ / 100;
  return stats::assess_pairs(pairs_of(samples), rules, boot_);
}

void HotCommand::print(const tool::Bench& bench, const tool::KeepingSink& keep, const tool::Server& server,
                       report::Format format, std::ostream& out) const {
  const stats::PairAssessment judged = judge(keep.samples);
  if (format == report::Format::kJson) {
    Json doc = tool::bench_head(bench, server, keep);
    doc.set("metric", kMetric).set("pairs", judged.check.pairs).set("excluded_pairs", judged.check.excluded);
    doc.set("sign_flip_p", judged.check.sign_flip_p).set("sign_flip_exact", judged.check.exact);
    doc.set("boots_differ_in_interval", judged.check.boots_counted);
    doc.set("boot_sd_log_points", boot_ && boot_->df > 0 ? Json(100 * std::sqrt(boot_->variance)) : Json());
    out << doc.set("assessment", stats::to_json(judged.assessment)).dump(2) << '\n';
    return;
  }
  print_arms(out, pairs_of(keep.samples), base_.empty() ? "-" : base_, cand_.empty() ? "-" : cand_);
  out << '\n';
  const Json assessment = stats::to_json(judged.assessment);
  print_three_effects(out, assessment);
  print_scale(out, assessment);
  print_line(out, "sign-flip test", flip_text(judged.check));
  print_state(out, assessment);
}

Result<cli::ExitCode> HotCommand::run(cli::Streams& streams, const cli::Args& args) {
  BK_ASSIGN(const Json base, parse_fields(base_, "--base"));
  BK_ASSIGN(const Json cand, parse_fields(cand_, "--cand"));
  if (cand_url_.empty() && base.dump() == cand.dump()) {
    return fail(Errc::kUsage, "base and candidate are the same: name fields that differ, or --cand-url", "--cand");
  }
  plan_.seed = flags_.seed;
  tool::Bench bench;
  bench.program = "bracket";
  bench.leg = "pairs";
  bench.plan = Json::object();
  bench.plan.set("base", base).set("cand", cand).set("cand_url", cand_url_.empty() ? Json() : Json(cand_url_));
  bench.plan.set("pairs", plan_.pairs).set("warmup", plan_.warmup).set("max_tokens", plan_.max_tokens);
  bench.plan.set("temperature", plan_.temperature).set("seed", fmt::format("{}", plan_.seed));
  bench.plan.set("alpha", alpha_).set("band", band_pct_ / 100);
  std::optional<cli::Connection> other;
  if (!cand_url_.empty()) {
    cli::ConnectionFlags flags = flags_.connection;
    flags.base_url = cand_url_;
    flags.metrics_url.clear();
    BK_ASSIGN(other, cli::read_connection(flags, streams));
  }
  if (!flags_.dry_run) {
    BK_ASSIGN(boot_, between_boots());
  }
  bench.measure = [&](const tool::Server& server, leg::Sink& sink, const std::function<bool()>& stopped) -> Status {
    plan_.stopped = stopped;
    engine::Endpoint second = server.endpoint;
    if (other) {
      BK_ASSIGN(const tool::Server reached, tool::reach(*other, stopped));
      second = reached.endpoint;
    }
    return leg::run_pairs(*server.transport, with_fields(server.endpoint, base), with_fields(second, cand), plan_,
                          sink);
  };
  bench.print = [&](const auto& keep, const auto& server, report::Format format, std::ostream& out) {
    print(bench, keep, server, format, out);
  };
  bench.outcome = [&](const tool::KeepingSink& keep) -> Result<cli::ExitCode> {
    BK_ASSIGN(const cli::ExitCode requests, tool::outcome_of(keep.samples));
    return requests == cli::ExitCode::kDone ? exit_code(judge(keep.samples).assessment.state) : requests;
  };
  return tool::run_bench(bench, flags_, streams, args);
}

}  // namespace bk::bracket_tool
