#include "contract/schema.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "base/text.h"
#include "contract/workshop.h"

namespace bk::contract {
namespace {

const std::string kSchemas = std::string(BK_SOURCE_DIR) + "/schema/json";

struct Row {
  const char* schema;
  const char* command;
};
/// One command, or more where a program's output has several shapes, for every program with JSON output.
const std::vector<Row>& commands() {
  static const std::vector<Row> kRows = {
      {"bench-dec", "bench-dec -C 1,2 --reps 2 --tokens 32 --json"},
      {"bench-dec", "bench-dec -C 1 --reps 1 --tokens 16 --content code --json"},
      {"bench-probe", "bench-probe -n 2 --tokens 16 --json"},
      {"bench-probe", "bench-probe -n 1 --warmup 0 --tokens 16 --json"},
      {"bench-ctx", "bench-ctx --contexts 2K --reps 1 --tokens 16 --json"},
      {"bench-conc", "bench-conc -C 1,2 -n 4 --tokens 16 --json"},
      {"bench-conc", "bench-conc --rate 50 -n 4 --tokens 16 --ttft-limit 500 --json"},
      {"bench-conc-mpi", "mpirun -n 2 bench-conc-mpi -C 2 -n 4 --tokens 16 --json"},
      {"bench-tp4", "bench-tp4 --prefill-tokens 4096 --tokens 64 --json"},
      {"streamgap", "streamgap --tokens 400 --ingest-tokens 4096 --after 0.3 --json"},
      {"benchy", "benchy --pp 256 --tg 16 --depth 0,256 --concurrency 1 --json"},
      {"benchy", "benchy --pp 256 --tg 16 --depth 256 --concurrency 2 --enable-prefix-caching --json"},
      {"check-quality", "check-quality --contexts 2K --json"},
      {"check-quality", "check-quality --contexts 2K --max-tokens 3 --json"},
      {"needle-256k", "needle-256k --context 4096 --json"},
      {"korean-corruption", "korean-corruption --rounds 1 --json"},
      {"greedy-divergence", "greedy-divergence --base base1.jsonl --base base2.jsonl --cand cand.jsonl --json"},
      {"ngram-ceiling", "ngram-ceiling --mode chars notes.txt --json"},
      {"metrics-delta", "metrics-delta before.txt http://127.0.0.1:8000/metrics --json"},
      {"bracket-gate", "bracket gate --contexts 2K --needle-context 4096 --korean-rounds 1 --greedy-tokens 16 --json"},
      {"bracket-show", "bracket run --base GATEFUSE=0 --cand GATEFUSE=1 --boots 2 --reps 1 --tokens 16 --json"},
      {"bracket-family", "bracket sweep --knob SPEC_TOKENS=3,5 --reps 2 --tokens 16 --no-gate --json"},
      {"bracket-family",
       "bracket matrix --knob GATEFUSE=0,1 --knob ONESHOT=0,1 --rounds 1 --reps 1 --tokens 16 --no-gate --json"},
      {"bracket-list", "bracket list --json"},
      {"bracket-compare", "bracket compare 9v0s7pyk 9v0s7pyk --json"},
      {"bracket-plan", "bracket plan --profile sim --json"},
      {"bracket-plan", "bracket plan --profile sim --effect 2 --json"},
      {"bracket-hot", "bracket hot --pairs 5 --tokens 64 --base temperature=0.95 --cand temperature=0.2 --json"},
      {"bracket-calibrate", "bracket calibrate --brackets 100 --only aba/ --json"},
      {"bracket-judge", "bracket judge h200.jsonl --json"},
      {"census", "census rank0.json.gz --json"},
      {"census", "census steps.json.gz --after topk --depth 2 --json"},
      {"census-diff", "census steps.json.gz --diff rank0.json.gz --json"},
      {"census-composition", "census composition steps.json.gz --json"},
      {"census-composition-diff", "census composition steps.json.gz --diff steps.json.gz --json"},
      {"census-tail", "census tail steps.json.gz --json"},
      {"census-gaps", "census gaps steps.json.gz --json"},
      {"census-ranks", "census ranks rank0.json.gz rank1.json.gz --json"},
      {"census-nccl-fingerprint", "census nccl-fingerprint nccl.log --json"},
      {"profile-step", "profile-step decode:64 /traces --wait 20 --json"},
      {"b12x-preflight", "b12x-preflight /models --json"},
      {"overlay-compose", "overlay compose lane/profiles/lane.env --json"},
      {"overlay-list", "overlay list lane/profiles/lane.env --json"},
      {"overlay-verify", "overlay verify lane/profiles/lane.env --tree lane/package --json"},
      {"overlay-verify", "overlay verify lane/profiles/lane.env --tree models --json"},
      {"overlay-diff", "overlay diff lane/profiles/lane.env --tree lane/package --json"},
      {"overlay-audit", "overlay audit --root lane --json"},
      {"overlay-deploy", "overlay deploy lane/profiles/lane.env --dry-run --json"},
      {"overlay-deploy", "overlay deploy lane/profiles/lane.env --json"},
      {"overlay-status", "overlay status lane/profiles/lane.env --json"},
      {"fleet-audit", "fleet-audit local --json"},
      {"fleet-audit", "fleet-audit local --values --json"},
      {"image-watch", "image-watch team/engine --registry http://127.0.0.1:8000 --state-dir watch --json"},
      {"profile-check", "profile check --json"},
      {"profile-list", "profile list --json"},
      {"profile-show", "profile show dsv4 --json"},
      {"profile-show", "profile show --resolved glm53 --json"},
      {"supervisor-event",
       "timeout -s INT 3 supervisor --profile sim --port 8000 --state-dir sup >sup.txt; head -n 1 sup/events.jsonl"},
  };
  return kRows;
}

/// "table", "json" and the others that --format of a command offers.
std::vector<std::string> formats_of(const std::string& help) {
  for (const std::string& line : help_section(help, "OPTIONS")) {
    constexpr std::string_view kFlag = "       --format ";  // what explains a flag is indented further
    if (!line.starts_with(kFlag)) continue;
    std::vector<std::string> formats;
    for (const std::string_view format : split(std::string_view(line).substr(kFlag.size()), '|'))
      formats.emplace_back(format);
    return formats;
  }
  return {};
}

bool has_form(const std::string& format, const std::string& text) {
  if (format == "md") return text.find("\n| ") != std::string::npos || text.starts_with("| ");
  const auto lines = split_lines(text);
  if (format == "csv") return !lines.empty() && lines[0].find(',') != std::string_view::npos;
  return !lines.empty() && std::all_of(lines.begin(), lines.end(), [](std::string_view line) {
    const auto object = parse_json(line);
    return object && object->is_object();
  });
}

/// Every form that --format of this command offers is given.
void check_formats(const Workshop& workshop, const std::string& command) {
  const std::string bare = command.substr(0, command.size() - std::string_view("json").size());
  const std::vector<std::string> formats = formats_of(workshop.run(bare + "help").out);
  REQUIRE(formats.size() >= 2);
  for (const std::string& format : formats) {
    if (format == "table" || format == "json") continue;
    const Captured ran = workshop.run(bare + "format " + format);
    INFO(format << "\n" << ran.err << ran.out.substr(0, 1000));
    CHECK(ran.exit.code != 2);
    CHECK(has_form(format, ran.out));
  }
}

}  // namespace

TEST_CASE("JSON output is what schema/json says, member by member, and every other form that is offered is given",
          "[schema]") {
  const Workshop workshop;
  const Schemas schemas(kSchemas);
  std::set<std::string> seen;
  for (const Row& row : commands()) {
    const Captured ran = workshop.run(row.command);
    INFO(row.command << "\n" << ran.err << ran.out.substr(0, 1000));
    const auto document = parse_json(ran.out);
    REQUIRE(document);
    const auto errors = schemas.errors(row.schema, *document);
    INFO(join(errors, "\n"));
    CHECK(errors.empty());
    const std::string command = row.command;
    if (command.ends_with("--json") && seen.insert(row.schema).second) check_formats(workshop, command);
  }
}

TEST_CASE("the check finds what does not fit", "[schema]") {
  const Schemas schemas(kSchemas);
  const auto count = [&schemas](const std::string& text) {
    return schemas.errors("bracket-list", parse_json(text).value()).size();
  };
  const std::string head = R"("schema_version":1,"tool":"bracket","tool_version":"0.1.0","commit":"x")";
  CHECK(count("{" + head + R"(,"rows":[]})") == 0);
  CHECK(count("{" + head + R"(,"rows":[],"more":1})") == 1);
  CHECK(count("{" + head + R"(,"rows":{}})") == 1);
  CHECK(count("{" + head + "}") == 1);
  CHECK(count("[]") == 1);
  CHECK(schemas.errors("no-such", Json()).size() == 1);
}

TEST_CASE("every member of every schema is described, and every schema is in use", "[schema]") {
  const Schemas schemas(kSchemas);
  std::vector<std::string> bare;
  const std::function<void(const std::string&, const Json&)> walk = [&](const std::string& place, const Json& schema) {
    if (schema.is_array()) {
      for (const Json& one : schema.items()) walk(place, one);
    }
    if (!schema.is_object()) return;
    for (const auto& [name, member] : schema["properties"].members()) {
      const bool named = member["description"].as_string() || member["$ref"].as_string();
      if (!named) bare.push_back(place + "." + name);
    }
    for (const auto& [name, member] : schema.members()) walk(place + "/" + name, member);
  };
  for (const auto& [file, schema] : schemas.all()) {
    walk(file, schema);
    if (file == "common.json") continue;
    CAPTURE(file);
    CHECK(std::any_of(commands().begin(), commands().end(),
                      [&file = file](const Row& row) { return file == std::string(row.schema) + ".json"; }));
  }
  INFO(join(bare, "\n"));
  CHECK(bare.empty());
}

}  // namespace bk::contract
