#include "plan_command.h"

#include <fmt/ostream.h>

#include <cmath>
#include <filesystem>

#include "base/text.h"
#include "cli/format.h"
#include "cli/output.h"
#include "report/number.h"
#include "report/table.h"
#include "show.h"
#include "tool/session.h"

namespace bk::bracket_tool {
namespace {

std::vector<std::string> row_of(const bracket::PlanLine& line) {
  std::optional<double> percent;
  if (line.resolves) percent = stats::to_pct(*line.resolves);
  constexpr double kMostPct = 1000;
  const bool beyond = percent && *percent > kMostPct;
  return {fmt::format("{}", line.boots), beyond ? fmt::format("> {:g}", kMostPct) : report::fixed(percent, 2),
          line.seconds ? human_duration(*line.seconds) : report::kMissing, line.reason};
}

void print_forecast(std::ostream& out, const bracket::Plan& plan, const bracket::Forecast& f,
                    std::optional<double> effect_pct) {
  fmt::print(out, "profile {}: {}\n\n", plan.profile, forecast_text(f));
  std::vector<std::vector<std::string>> rows;
  for (const bracket::PlanLine& line : f.others) rows.push_back(row_of(line));
  using report::Align;
  out << report::table({"boots", "calls [%]", "time", ""}, {Align::kRight, Align::kRight, Align::kRight, Align::kLeft},
                       rows);
  fmt::print(
      out, "\nEach line: the smallest effect that {:g} of 10 brackets of that length call, alpha {:g}, band {:g} %.\n",
      10 * stats::kPower, plan.options.alpha, 100 * plan.options.band);
  if (effect_pct && f.boots_needed) {
    fmt::print(out, "An effect of {:g} % takes {} boots.\n", *effect_pct, *f.boots_needed);
  } else if (effect_pct) {
    fmt::print(out, "An effect of {:g} % takes more than {} boots: another instrument is needed.\n", *effect_pct,
               stats::kMostBoots);
  }
  if (f.noise.assumed())
    fmt::print(out, "How its boots differ is not known yet: bracket baseline --profile {} --boots 6\n", plan.profile);
}

}  // namespace

void PlanCommand::register_on(cli::App& app) {
  app.description(
      "Says what a bracket could show before it is run: the smallest effect that plans of several lengths call, from "
      "how the profile's earlier base boots differ, and the time each would take. Nothing is booted.");
  app.example("bracket plan --profile sim", "what three, five, seven … boots can call");
  app.example("bracket plan --profile sim --effect 2", "boots that an effect of 2 % takes");
  flags_.profile = "sim";
  flags_.add_to(app, {cli::Common::kProfile});
  plan_.add_boots(app, "boots of the plan in question");
  app.option("--effect", effect_pct_, "an effect whose number of boots is asked for, in percent")
      .range(-99, 10'000)
      .value("PCT")
      .no_default();
  plan_.add_to(app);
  flags_.add_to(app, {cli::Common::kSeed, cli::Common::kDb, cli::Common::kOut});
  cli::add_format(app, flags_, {"table", "json"});
}

Result<cli::ExitCode> PlanCommand::run(cli::Streams& streams, const cli::Args&) {
  BK_ASSIGN(const boot::Profile profile, profile_of(flags_.profile));
  BK_ASSIGN(const bracket::PlanOptions options, plan_.options(flags_.seed, profile));
  BK_ASSIGN(const bracket::Plan plan,
            bracket::make_same_plan(profile, {}, bracket::boot_order(options.boots), options));
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db));
  std::optional<double> effect;
  if (effect_pct_) effect = std::log1p(*effect_pct_ / 100);
  BK_ASSIGN(const bracket::Forecast forecast, bracket::forecast(database, plan, effect));
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, flags_.out));
  if (flags_.format == "json") {
    Json doc = tool::output_head("bracket plan");
    const Json body = to_json(forecast);
    doc.set("profile", plan.profile).set("effect_pct", effect_pct_);
    for (const auto& [key, value] : body.members()) doc.set(key, value);
    output.stream() << doc.dump(2) << '\n';
  } else {
    print_forecast(output.stream(), plan, forecast, effect_pct_);
  }
  BK_TRY(output.close());
  return cli::ExitCode::kDone;
}

}  // namespace bk::bracket_tool
