#include "run.h"

#include <fmt/format.h>

#include <ostream>

#include "base/text.h"
#include "base/version.h"
#include "cli/app.h"
#include "cli/common_flags.h"
#include "cli/format.h"
#include "cli/output.h"
#include "report/table.h"
#include "rules.h"
#include "scan.h"

namespace bk::b12x {
namespace {

using cli::ExitCode;

struct Options {
  cli::CommonFlags common;
  std::string models;
  std::vector<std::int64_t> sizes = {1, 2, 4, 8};
};

Json verdict_json(const Verdict& verdict) {
  Json json = Json::object();
  json.set("split", name_of(verdict.split, verdict.size)).set("serves", verdict.serves).set("why", verdict.why);
  const bool corrupts = verdict.corrupting_padding > 0;
  return json.set("corrupting_padding", corrupts ? Json(verdict.corrupting_padding) : Json());
}

Json model_json(const Model& model, const Options& options) {
  Json json = Json::object();
  json.set("model", model.name);
  json.set("reason", model.shape ? Json() : Json(model.shape.error().text()));
  Json verdicts = Json::array();
  if (!model.shape) {
    json.set("status", model.shape.error().code == Errc::kUnavailable ? "dense" : "unknown");
    for (const char* unread : {"intermediate", "experts", "found_in", "tensors_compared"}) json.set(unread, Json());
    return json.set("splits", std::move(verdicts));
  }
  json.set("status", "judged").set("intermediate", model.shape->intermediate).set("experts", model.shape->experts);
  json.set("found_in", model.shape->found_in.empty() ? "config.json" : model.shape->found_in);
  json.set("tensors_compared", model.seen.tensors);
  for (const Verdict& verdict : judge_all(*model.shape, options.sizes)) verdicts.push(verdict_json(verdict));
  return json.set("splits", std::move(verdicts));
}

std::string table_of(const std::vector<Model>& models, const Options& options) {
  std::vector<std::vector<std::string>> rows;
  for (const Model& model : models) {
    if (!model.shape) {
      rows.push_back({model.name, "", "not judged", model.shape.error().text()});
      continue;
    }
    for (const Verdict& verdict : judge_all(*model.shape, options.sizes)) {
      std::string why = verdict.why;
      if (verdict.corrupting_padding > 0) {
        why += fmt::format("; padding to {} would boot and corrupt", verdict.corrupting_padding);
      }
      if (model.seen.tensors == 0) why += "; by config.json alone: no expert's tensor was there to compare";
      rows.push_back({model.name, name_of(verdict.split, verdict.size), verdict.serves ? "serves" : "cannot", why});
    }
  }
  return report::table({"model", "split", "result", "why"}, std::vector(4, report::Align::kLeft), rows);
}

/// Unknown wins over a model that nothing serves: it has to be looked at first.
ExitCode exit_of(const std::vector<Model>& models, const Options& options) {
  bool stuck = false;
  for (const Model& model : models) {
    if (!model.shape) {
      if (model.shape.error().code != Errc::kUnavailable) return ExitCode::kInconclusive;
      continue;
    }
    bool serves = false;
    for (const Verdict& verdict : judge_all(*model.shape, options.sizes)) serves = serves || verdict.serves;
    stuck = stuck || !serves;
  }
  return stuck ? ExitCode::kFailed : ExitCode::kDone;
}

void register_flags(cli::App& app, Options& options) {
  app.description(
      "Reads config.json and the headers of the safetensors files of every model in a folder, and computes at which "
      "sizes the b12x kernels for mixtures of experts can serve it: split by width (TP), intermediate/TP must be whole "
      "and twice that a multiple of 128; split by experts (EP), the intermediate must be a multiple of 128 and the "
      "experts divisible by EP. Where padding would let an engine boot it is named, since it then corrupts the output: "
      "name the MoE backend instead of leaving it on auto, so that an impossible choice fails loudly.\n\n"
      "Exit code: 0 every mixture of experts can be served at one of the sizes at least, 1 one cannot, 4 one could not "
      "be judged (sizes missing, or config.json and the tensors disagree). Dense models are named and left alone.");
  app.positional("MODELS", options.models, "a model's folder, or a folder of such folders").required();
  app.option("--sizes", options.sizes, "TP and EP sizes to judge").range(1, 4096).value("N,…").separated_by(',');
  options.common.add_to(app, {cli::Common::kOut});
  cli::add_format(app, options.common, {"table", "json"});
  app.example("b12x-preflight /models --sizes 4", "what four GPUs can serve");
}

}  // namespace

Result<ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("b12x-preflight", "Says which TP and EP sizes can serve the models of a folder");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return ExitCode::kDone;
  BK_ASSIGN(const auto models, scan(options.models));
  if (models.empty()) return fail(Errc::kUsage, "no config.json in this folder or three levels below", options.models);
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.common.out));
  if (options.common.format == "json") {
    Json json = Json::object();
    json.set("schema_version", 1).set("tool", "b12x-preflight").set("version", version()).set("commit", commit());
    Json list = Json::array();
    for (const Model& model : models) list.push(model_json(model, options));
    output.stream() << json.set("models", std::move(list)).dump(2) << "\n";
  } else {
    output.stream() << table_of(models, options);
  }
  BK_TRY(output.close());
  return exit_of(models, options);
}

}  // namespace bk::b12x
