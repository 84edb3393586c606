#include "run.h"

#include <ostream>
#include <utility>

#include "base/file.h"
#include "cli/app.h"
#include "cli/common_flags.h"
#include "cli/format.h"
#include "cli/output.h"
#include "delta.h"
#include "engine/counters.h"
#include "engine/metrics_client.h"

namespace bk::metrics_delta {
namespace {

struct Options {
  cli::CommonFlags common;
  std::string before, after;
};

bool is_url(const std::string& source) { return source.starts_with("http://") || source.starts_with("https://"); }

Result<engine::MetricsPage> read_page(const std::string& source, http::Transport& transport) {
  if (is_url(source)) {
    engine::Endpoint endpoint;
    endpoint.metrics_url = source;
    return engine::fetch_metrics(transport, endpoint);
  }
  BK_ASSIGN(const std::string text, read_file(source));
  auto page = engine::parse_metrics(text);
  if (!page) return fail(Errc::kUsage, "no metrics page: " + page.error().what, source);
  return std::move(*page);
}

/// A server that has no page to give is a page without counters; anything else that fails ends the program.
Result<Page> load(const std::string& source, http::Transport& transport) {
  auto read = read_page(source, transport);
  if (read) return Page{source, engine::read_counters(*read), {}};
  if (read.error().code != Errc::kUnavailable) return fail(read.error());
  return Page{source, std::nullopt, read.error().what};
}

void register_flags(cli::App& app, Options& options) {
  app.description(
      "Each page is a file or an http(s) URL: what the server's /metrics says. Acceptance is computed from counter "
      "deltas, summed over engines by exact name. Exit code 3 when a page cannot be had, 4 when no counter of a known "
      "engine is on the pages, 5 when a counter was reset between them.");
  app.positional("BEFORE", options.before, "first page: file or URL").required();
  app.positional("AFTER", options.after, "second page: file or URL").required();
  options.common.add_to(app, {cli::Common::kOut});
  cli::add_format(app, options.common, {"table", "json"});
  app.example("metrics-delta before.txt http://127.0.0.1:8000/metrics",
              "what the engine counted since the page was saved");
}

Result<cli::ExitCode> exit_of(const Delta& delta) {
  for (const Page* page : {&delta.before, &delta.after}) {
    if (!page->counters) return fail(Errc::kUnavailable, page->reason, page->source);
  }
  if (!delta.continuity.unbroken()) return cli::ExitCode::kVoid;
  const bool known = !delta.before.counters->dialect.empty() || !delta.after.counters->dialect.empty();
  return known ? cli::ExitCode::kDone : cli::ExitCode::kInconclusive;
}

}  // namespace

Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("metrics-delta", "Says what an engine counted between two readings of its metrics page");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return cli::ExitCode::kDone;
  const std::string& format = options.common.format;
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.common.out));
  const auto transport = http::make_curl_transport();
  BK_ASSIGN(Page before, load(options.before, *transport));
  BK_ASSIGN(Page after, load(options.after, *transport));
  const Delta delta = delta_of(std::move(before), std::move(after));
  output.stream() << (format == "json" ? to_json(delta).dump(2) + "\n" : to_table(delta));
  BK_TRY(output.close());
  return exit_of(delta);
}

}  // namespace bk::metrics_delta
