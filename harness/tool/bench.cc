#include "tool/bench.h"

#include <algorithm>
#include <ostream>

#include "base/text.h"
#include "load/honesty.h"

namespace bk::tool {

namespace {

/// The most that the client itself cost in any sample.
load::ClientCost worst_client(const std::vector<load::Sample>& samples) {
  load::ClientCost worst;
  for (const load::Sample& sample : samples) {
    worst.cpu_share = std::max(worst.cpu_share, sample.client.cpu_share);
    worst.worst_delay = std::max(worst.worst_delay, sample.client.worst_delay);
  }
  return worst;
}

void say_client(const std::vector<load::Sample>& samples, bool quiet, std::ostream& err) {
  if (samples.empty()) return;
  const load::ClientCost worst = worst_client(samples);
  const std::vector<std::string> marks = load::client_marks(worst);
  const std::string cost = fmt::format("used {:.0f} % of one core and let an event wait {:.2f} ms, at most",
                                       100 * worst.cpu_share, to_ms(worst.worst_delay));
  if (!marks.empty()) {
    err << fmt::format("warning: the client itself {}: it may be what limits these figures ({})\n", cost,
                       join(marks, ", "));
  } else if (!quiet) {
    err << fmt::format("the client {}\n", cost);
  }
}

bool is_biased(const stream::RequestRecord& request) { return request.decode_basis == stream::DecodeBasis::kNMinusOne; }

bool is_biased(const load::Sample& sample) {
  return std::any_of(sample.requests.begin(), sample.requests.end(),
                     [](const stream::RequestRecord& request) { return is_biased(request); });
}

void say_basis(const std::vector<load::Sample>& samples, std::ostream& err) {
  if (std::none_of(samples.begin(), samples.end(), [](const load::Sample& sample) { return is_biased(sample); }))
    return;
  err << "warning: events carry several tokens and the server does not say how many: decode speed is all tokens but "
         "one "
         "over the time (n_minus_1), too high where the first event carried more\n";
}

Json client_json(const std::vector<load::Sample>& samples) {
  const load::ClientCost worst = worst_client(samples);
  Json json = Json::object();
  json.set("worst_cpu_share", samples.empty() ? Json() : Json(worst.cpu_share));
  json.set("worst_delay_ms", samples.empty() ? Json() : Json(to_ms(worst.worst_delay)));
  return json.set("marks", load::client_marks(worst));
}

}  // namespace

Result<cli::ExitCode> run_bench(const Bench& bench, const cli::CommonFlags& common, cli::Streams& streams,
                                const cli::Args& args) {
  BK_ASSIGN(const report::Format format, report::parse_format(common.format));
  BK_ASSIGN(const cli::Connection connection, cli::read_connection(common.connection, streams));
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, common.out));
  if (common.dry_run) {
    output.stream() << bench.plan.dump(2) << '\n';
    BK_TRY(output.close());
    return cli::ExitCode::kDone;
  }
  const cli::InterruptGuard interrupts;
  const auto stopped = [&interrupts] { return interrupts.interrupted(); };
  BK_ASSIGN(const Server server, reach(connection, stopped));
  KeepingSink keep(streams, common.quiet);
  auto outcome = record_leg(
      {bench.program, bench.leg, bench.plan, common.db, common.seed, args}, server, streams, keep,
      [&](leg::Sink& sink) { return bench.measure(server, sink, stopped); },
      bench.outcome ? bench.outcome : [](const KeepingSink& kept) { return outcome_of(kept.samples); });
  if (outcome || !keep.samples.empty() || !keep.gates.empty()) {
    bench.print(keep, server, format, output.stream());
  }
  BK_TRY(output.close());
  say_client(keep.samples, common.quiet, streams.err);
  say_basis(keep.samples, streams.err);
  if (!outcome) {
    Error error = outcome.error();
    if (error.where.empty()) error.where = server.endpoint.base_url;
    return fail(std::move(error));
  }
  const std::string failures = failures_text(keep.samples);
  if (!failures.empty()) {
    streams.err << bench.program << ": " << redact(failures, streams.secrets) << " (" << server.endpoint.base_url
                << ")\n";
  }
  return outcome;
}

Json bench_head(const Bench& bench, const Server& server, const KeepingSink& keep) {
  Json head = output_head(bench.program);
  head.set("endpoint", server.endpoint.base_url).set("model", server.endpoint.model).set("plan", bench.plan);
  Json machine = Json::object();
  machine.set("before", leg::to_json(keep.machine_before)).set("after", leg::to_json(keep.machine_after));
  machine.set("marks", keep.machine_marks);
  return head.set("machine", std::move(machine)).set("client", client_json(keep.samples));
}

Json rows_json(const report::Records& records) {
  const auto document = parse_json(report::render(records, report::Format::kJson));
  return document ? (*document)["rows"] : Json::array();
}

std::optional<double> metric_of(const load::Sample& sample, const std::string& name) {
  const auto it = sample.metrics.find(name);
  return it == sample.metrics.end() ? std::nullopt : it->second.value;
}

std::string note_of(const load::Sample& sample, const std::vector<std::string>& metrics) {
  for (const auto& request : sample.requests) {
    if (!request.ok()) return request.reason.empty() ? stream::to_string(request.outcome) : request.reason;
  }
  std::vector<std::string> notes;
  for (const std::string& metric : metrics) {
    const auto it = sample.metrics.find(metric);
    if (it == sample.metrics.end() || it->second.value) continue;
    if (std::find(notes.begin(), notes.end(), it->second.reason) == notes.end()) notes.push_back(it->second.reason);
  }
  if (is_biased(sample)) notes.emplace_back(stream::to_string(stream::DecodeBasis::kNMinusOne));
  for (std::string& mark : load::client_marks(sample.client)) notes.push_back(std::move(mark));
  return join(notes, ", ");
}

Result<std::vector<std::int64_t>> parse_token_list(const std::string& text, const std::string& flag) {
  std::vector<std::int64_t> list;
  for (std::string_view part : split(text, ',')) {
    part = trim(part);
    const bool kilo = !part.empty() && (part.back() == 'K' || part.back() == 'k');
    const auto number = parse_int(kilo ? part.substr(0, part.size() - 1) : part);
    if (!number || *number < 1 || *number > 100'000'000) {
      return fail(Errc::kUsage, "a length is a number of tokens such as 2048 or 2K", flag + " " + std::string(part));
    }
    list.push_back(kilo ? *number * 1024 : *number);
  }
  return list;
}

}  // namespace bk::tool
