#include "cli/common_flags.h"

#include "cli/format.h"

namespace bk::cli {
namespace {

void add_connection(App& app, ConnectionFlags& flags) {
  app.section("Connection");
  app.option("--base-url", flags.base_url, "server, with or without /v1 at the end")
      .value("URL")
      .env("BRACKETKIT_BASE_URL");
  app.option("--model", flags.model, "model to ask for; the server's own when left out").value("NAME");
  app.option("--api-key-env", flags.api_key_env, "environment variable that holds the API key").value("NAME");
  app.option("--api-key-file", flags.api_key_file, "file that holds the API key, readable by you alone").value("FILE");
  app.option("--header", flags.header, "header for every request, \"Name: value\"").value("TEXT");
  app.option("--ca-file", flags.ca_file, "certificates to trust, PEM").value("FILE");
  app.option("--unix-socket", flags.unix_socket, "connect through this socket").value("FILE");
}

void add_group(App& app, CommonFlags& flags, Common group) {
  switch (group) {
    case Common::kConnection:
      return add_connection(app, flags.connection);
    case Common::kExtraBody:
      app.option("--extra-body", flags.connection.extra_body, "members merged into every request body").value("JSON");
      return;
    case Common::kMetrics:
      app.option("--metrics-url", flags.connection.metrics_url, "metrics page; the server's /metrics when left out")
          .value("URL");
      return;
    case Common::kSeed:
      app.option("--seed", flags.seed, "seed of everything random");
      return;
    case Common::kReps:
      app.option("--reps", flags.reps, "measured repetitions").range(1, 1'000'000);
      return;
    case Common::kWarmup:
      app.option("--warmup", flags.warmup, "repetitions discarded before the measured ones").range(0, 1'000'000);
      return;
    case Common::kDb:
      app.option("--db", flags.db, "results database").value("FILE").env("BRACKETKIT_DB");
      return;
    case Common::kProfile:
      app.option("--profile", flags.profile, "how the engine is booted: a name in profiles/, or a path").value("NAME");
      return;
    case Common::kFormat:
      return add_format(app, flags, {"table", "json", "jsonl", "csv", "md"});
    case Common::kOut:
      app.option("--out", flags.out, "write the data there instead of to standard output").value("FILE");
      return;
    case Common::kDryRun:
      app.flag("--dry-run", flags.dry_run, "print what would be done and stop");
      return;
    case Common::kQuiet:
      app.flag("-q,--quiet", flags.quiet, "no progress on standard error");
      return;
  }
}

}  // namespace

void CommonFlags::add_to(App& app, std::initializer_list<Common> groups) {
  for (const Common group : groups) {
    if (group != Common::kConnection) app.section("Options");
    add_group(app, *this, group);
  }
  app.section("Options");
}

}  // namespace bk::cli
