#include "run.h"

#include <fmt/format.h>

#include <array>
#include <ostream>

#include "cli/common_flags.h"
#include "cli/output.h"
#include "cli/priority.h"
#include "documents.h"
#include "engine/tokenize.h"
#include "report/format.h"
#include "tool/session.h"

namespace bk::ngram_ceiling {
namespace {

constexpr const char* kName = "ngram-ceiling";
constexpr std::array<const char*, 3> kPolicies = {"base", "hybrid", "oracle"};

struct Options {
  cli::CommonFlags common;
  std::vector<std::string> files;
  std::string mode = "tokens", tokenize_url, per_pos = "78.5,56.4,39.6,28.6,21.5";
  Config config;
  int warmup = 64;
  double floor_tok_s = 23.8;
  bool nice = false;
};

void register_flags(cli::App& app, Options& options) {
  using cli::Common;
  options.common.seed = 0;
  options.common.add_to(app, {Common::kSeed, Common::kFormat, Common::kOut});
  app.description(
      "Walks texts and counts the steps that a drafter needs alone, with copies of repeated text where a match is long "
      "enough (hybrid), and with the better of both at every step (oracle). "
      "CLEARS (exit code 0) when the hybrid makes at least 7 % more tokens a step, BELOW (exit code 1) "
      "otherwise; 4 when there is nothing to generate.");
  app.positional("FILE", options.files, "texts (.txt), or .jsonl with prompt and completion, or text").required();
  app.option("--mode", options.mode, "tokens of a server's tokenizer, or characters for a smoke test")
      .choices({"tokens", "chars"});
  app.option("--tokenize-url", options.tokenize_url, "server whose /tokenize makes the tokens").value("URL");
  app.option("--k", options.config.k, "drafts a step").range(1, 64).value("N");
  app.option("--nmin", options.config.match.nmin, "shortest match that is looked for").range(1, 64).value("N");
  app.option("--nmax", options.config.match.nmax, "longest match that is told apart").range(1, 1024).value("N");
  app.option("--threshold", options.config.threshold, "match from which the hybrid copies; at least --nmin")
      .range(1, 1024)
      .value("N");
  app.option("--warmup", options.warmup, "tokens given of a text without a prompt").range(0, 1e9).value("N");
  app.option("--keep", options.config.match.keep, "positions kept for each short match").range(1, 1e6).value("N");
  app.option("--per-pos", options.per_pos, "cumulative acceptance of the drafter by position, in percent")
      .value("LIST");
  app.option("--floor", options.floor_tok_s, "tokens a second at one token a step").range(0, 1e6).value("TOK/S");
  cli::add_nice_to(app, options.nice);
  app.example("ngram-ceiling answers.jsonl --tokenize-url http://127.0.0.1:8000", "by the server's own tokens");
  app.example("ngram-ceiling --mode chars notes.txt", "a smoke test without a server");
}

Status check(const Options& options) {
  const Config& c = options.config;
  if (c.threshold < c.match.nmin) return fail(Errc::kUsage, "--threshold is below --nmin");
  if (c.match.nmax < c.match.nmin) return fail(Errc::kUsage, "--nmax is below --nmin");
  if (options.mode == "tokens" && options.tokenize_url.empty()) {
    return fail(Errc::kUsage, "tokens need --tokenize-url; --mode chars does without a server");
  }
  return {};
}

Result<std::vector<Document>> all_documents(const Options& options, const Encode& encode) {
  std::vector<Document> all;
  for (const std::string& file : options.files) {
    BK_ASSIGN(std::vector<Document> documents, read_documents(file, static_cast<std::size_t>(options.warmup), encode));
    for (Document& document : documents) all.push_back(std::move(document));
  }
  return all;
}

Result<std::vector<Document>> documents_of(const Options& options, cli::Streams& streams) {
  if (options.mode == "chars") return all_documents(options, chars_of);
  cli::ConnectionFlags flags;
  flags.base_url = options.tokenize_url;
  BK_ASSIGN(const cli::Connection connection, cli::read_connection(flags, streams));
  const auto transport = http::make_curl_transport();
  engine::Endpoint endpoint;
  endpoint.base_url = connection.base_url;
  BK_ASSIGN(const engine::Tokenizer tokenizer, engine::Tokenizer::detect(*transport, endpoint));
  return all_documents(options, [&tokenizer](const std::string& text) { return tokenizer.tokens(text); });
}

report::Records records_of(const std::array<Totals, 3>& totals, const Options& options) {
  report::Records records;
  records.columns = {{"policy", "", "", report::Align::kLeft},
                     {"generated", "", "", report::Align::kRight, 12},
                     {"steps", "", "", report::Align::kRight, 12},
                     {"tokens_per_step", "", ""},
                     {"uplift_pct", "", ""},
                     {"projected_tok_s", "", ""},
                     {"copy_share", "", ""},
                     {"accepted_when_copied", "", ""}};
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const auto per_step = totals[i].tokens_per_step();
    const Json projected = per_step ? Json(options.floor_tok_s * *per_step) : Json();
    records.rows.push_back({kPolicies[i], totals[i].generated, totals[i].steps, per_step,
                            uplift_pct(totals[i], totals[0]), projected, totals[i].copy_share(),
                            totals[i].accepted_when_copied()});
  }
  return records;
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app(kName, "Bounds what copying repeated text could add to a drafter, from texts alone");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  BK_ASSIGN(const report::Format format, report::parse_format(options.common.format));
  BK_TRY(check(options));
  if (options.nice) BK_TRY(cli::lower_priority());
  BK_ASSIGN(const AcceptLaw law, AcceptLaw::parse(options.per_pos, options.config.k));
  options.config.seed = options.common.seed;
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.common.out));
  BK_ASSIGN(const std::vector<Document> documents, documents_of(options, streams));

  std::array<Totals, 3> totals;
  for (const Document& document : documents) {
    totals[0] += simulate(document, law, options.config, Policy::kBase);
    totals[1] += simulate(document, law, options.config, Policy::kHybrid);
    totals[2] += simulate(document, law, options.config, Policy::kOracle);
  }
  const auto uplift = uplift_pct(totals[1], totals[0]);
  if (!uplift) {
    return fail(
        Errc::kInconclusive,
        fmt::format("nothing to generate: no document is longer than its prompt or --warmup {}", options.warmup));
  }
  const bool cleared = clears(*uplift);
  report::Records records = records_of(totals, options);
  records.meta = tool::output_head(kName)
                     .set("verdict", cleared ? "CLEARS" : "BELOW")
                     .set("hybrid_uplift_pct", *uplift)
                     .set("limit_pct", kClears_pct)
                     .set("mode", options.mode)
                     .set("documents", documents.size())
                     .set("drafter_accepted_per_step", law.mean());
  output.stream() << report::render(records, format);
  if (format == report::Format::kTable) {
    output.stream() << fmt::format("=> {}: hybrid {:+.2f} %, limit {:.1f} %{}\n", cleared ? "CLEARS" : "BELOW", *uplift,
                                   kClears_pct, options.mode == "chars" ? " (characters: a smoke test only)" : "");
  }
  BK_TRY(output.close());
  return cleared ? cli::ExitCode::kDone : cli::ExitCode::kFailed;
}

}  // namespace bk::ngram_ceiling
