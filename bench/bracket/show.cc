#include "show.h"

#include <fmt/ostream.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "bracket/family_plan.h"
#include "cli/format.h"
#include "cli/output.h"
#include "family_text.h"
#include "judged_text.h"
#include "leg/greedy.h"
#include "report/number.h"
#include "report/table.h"
#include "tool/session.h"

namespace bk::bracket_tool {
namespace {

std::string proofs_text(const bracket::View& view) {
  int held = 0, all = 0, others_held = 0, others = 0;
  std::set<std::string> knobs{view.summary.bracket.knob};
  if (view.plan) {
    for (const bracket::KnobChange& change : view.plan->changes()) knobs.insert(change.knob);
  }
  std::vector<std::string> failed;
  for (const store::ProofRow& proof : view.proofs) {
    const bool judged = knobs.contains(proof.knob), ok = proof.state == "held";
    (judged ? all : others) += 1;
    (judged ? held : others_held) += ok ? 1 : 0;
    if (proof.state == "failed")
      failed.push_back(fmt::format("{} asked {} runs {}", proof.knob, proof.expected, proof.observed));
  }
  std::string text = fmt::format("{} held in {} of {} boots; other knobs {} of {}", view.summary.bracket.knob, held,
                                 all, others_held, others);
  return failed.empty() ? text : text + "; failed: " + join(failed, ", ");
}

std::string gates_text(const bracket::BootView& boot) {
  std::vector<std::string> parts;
  for (const store::GateRow& gate : boot.gates) {
    parts.push_back(fmt::format("{} {}/{}{}", gate.name, gate.passed, gate.asked,
                                gate.verdict == "pass" ? "" : " " + gate.verdict));
  }
  return parts.empty() ? "-" : join(parts, ", ");
}

/// What a score does not say: why a gate did not pass, and where the arms' texts part.
void print_gates(std::ostream& out, const bracket::View& view) {
  for (const bracket::BootView& boot : view.boots) {
    for (const store::GateRow& gate : boot.gates) {
      if (gate.detail.empty() || (gate.verdict == "pass" && gate.name != leg::kGreedyDivergence)) continue;
      print_line(out, gate.name, fmt::format("boot {}, {}: {}", boot.boot.position + 1, gate.verdict, gate.detail));
    }
  }
}

void print_boots(std::ostream& out, const bracket::View& view) {
  std::vector<std::vector<std::string>> rows;
  for (const bracket::BootView& boot : view.boots) {
    std::optional<double> points, boot_s;
    if (boot.acceptance) points = 100 * *boot.acceptance;
    if (boot.boot.ready_wall) boot_s = to_s(*boot.boot.ready_wall - boot.boot.started_wall);
    rows.push_back({fmt::format("{}", boot.boot.position + 1), boot.boot.arm, boot.boot.state, report::fixed(boot_s, 1),
                    fmt::format("{}", boot.samples), report::number(boot.median), report::number(boot.min),
                    report::number(boot.max), report::fixed(points, 1), gates_text(boot)});
  }
  using report::Align;
  const store::BracketRow& b = view.summary.bracket;
  out << report::table({"boot", "arm", "state", "boot [s]", "n", b.primary_metric + " " + b.primary_cell, "min", "max",
                        "acceptance [%]", "gates"},
                       {Align::kRight, Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight,
                        Align::kRight, Align::kRight, Align::kRight, Align::kLeft},
                       rows);
}

std::string engine_text(const bracket::View& view) {
  for (const bracket::BootView& boot : view.boots) {
    if (boot.boot.model.empty()) continue;
    const std::string version = boot.boot.engine_version.empty() ? "version not reported" : boot.boot.engine_version;
    return fmt::format("{} ({})", boot.boot.model, version);
  }
  return "-";
}

}  // namespace

std::string plan_text(const bracket::Plan& plan) {
  const bracket::PlanOptions& o = plan.options;
  std::vector<std::string> concurrency;
  for (const int c : o.decode.concurrency) concurrency.push_back(fmt::format("{}", c));
  std::vector<std::string> gates;
  for (const auto context : o.gate_contexts) gates.push_back(fmt::format("check-quality at {}", context));
  if (o.greedy_tokens > 0) gates.push_back(fmt::format("greedy-divergence over {} tokens", o.greedy_tokens));
  if (gates.empty()) gates.emplace_back("no gate");
  return fmt::format("in each boot C={}: {} × {} tokens after {} warm-up, {}; seed {}", join(concurrency, ","),
                     o.decode.reps, o.decode.max_tokens, o.decode.warmup, join(gates, ", "), o.seed);
}

void print_view(std::ostream& out, const bracket::View& view) {
  const store::BracketRow& b = view.summary.bracket;
  fmt::print(out, "bracket {}  {}  {}  {}  {}\n", store::short_uid(b.uid), b.profile, b.axis,
             format_utc(b.created_wall), b.state);
  print_line(out, "differs", fmt::format("{}: base {}, candidate {}", b.knob, b.base_value, b.cand_value));
  print_line(out, "engine", engine_text(view));
  if (view.plan) print_line(out, "plan", fmt::format("{} boots; {}", view.plan->order.size(), plan_text(*view.plan)));
  if (!view.plan && b.plan_id) {
    print_line(out, "plan", "not shown: it is not what its hash says, the database was edited");
  }
  if (!view.proofs.empty()) print_line(out, "proofs", proofs_text(view));
  if (!view.family_uid.empty()) {
    print_line(out, "part of",
               fmt::format("{} {}, whose base boots it shares",
                           view.plan ? view.plan->family["kind"].as_string().value_or("family") : "family",
                           store::short_uid(view.family_uid)));
  }
  if (!b.reopen_reason.empty()) print_line(out, "reopened", b.reopen_reason);
  if (!view.boots.empty()) {
    out << '\n';
    print_boots(out, view);
    out << '\n';
    print_gates(out, view);
  }
  if (!view.assessment.is_null()) print_effects(out, view.assessment, view.historical);
  if (view.assessment.is_null() && !b.reason.empty()) print_line(out, "ended", b.reason);
  for (const store::AssessmentRow& a : view.replaced) {
    print_line(out, "assessed before",
               fmt::format("{} ({}) at {}: {}", a.state, a.reason_code, format_utc(a.created_wall), a.reason));
  }
  for (const store::VerdictRow& v : view.verdicts) {
    print_line(out, "verdict",
               fmt::format("{} by {}: {}{}", v.word, v.signed_by, v.reason,
                           v.override_reason.empty() ? "" : " (override: " + v.override_reason + ")"));
  }
  print_line(out, "next", bracket::what_next(view));
}

Status show_bracket(store::Database& database, const std::string& uid, const std::string& format, std::ostream& out) {
  BK_ASSIGN(const bracket::View view, bracket::load_view(database, uid));
  if (view.plan && bracket::is_family(*view.plan)) {
    BK_ASSIGN(const bracket::FamilyView family, bracket::load_family_view(database, view));
    return show_family(family, format, out);
  }
  if (format == "json") {
    Json doc = tool::output_head("bracket");
    const Json body = bracket::to_json(view);
    for (const auto& [key, value] : body.members()) doc.set(key, value);
    out << doc.dump(2) << '\n';
    return {};
  }
  print_view(out, view);
  return {};
}

void ShowCommand::register_on(cli::App& app) {
  app.positional("ID", id_, "the bracket: its id or the first characters of it").required();
  flags_.add_to(app, {cli::Common::kDb, cli::Common::kOut});
  cli::add_format(app, flags_, {"table", "json"});
}

Result<cli::ExitCode> ShowCommand::run(cli::Streams& streams, const cli::Args&) {
  BK_ASSIGN(store::Database database, store::Database::open(flags_.db, store::OpenMode::kReadOnly));
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, flags_.out));
  BK_TRY(show_bracket(database, id_, flags_.format, output.stream()));
  BK_TRY(output.close());
  return cli::ExitCode::kDone;
}

}  // namespace bk::bracket_tool
