#include "run.h"

#include <fmt/ostream.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <set>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/app.h"
#include "cli/common_flags.h"
#include "cli/format.h"
#include "cli/output.h"
#include "http/transport.h"
#include "tags.h"

namespace bk::image_watch {
namespace {

using cli::ExitCode;

constexpr int kMostPages = 1000;

struct Options {
  cli::CommonFlags common;
  std::string image, registry = "https://hub.docker.com", state_dir = ".", flag_file, post_url;
  double retry_after_s = 10;
};

void register_flags(cli::App& app, Options& options) {
  app.description(
      "Reads every page of an image's tags and compares them with the last look: a new tag, one that was pushed again "
      "under the same name, one that went. The first look only records. A look that fails is tried once more, and "
      "changes nothing.\n\n"
      "Exit code: 0 nothing changed (or first look), 1 something did, 3 the registry did not answer, or lists "
      "nothing.");
  app.positional("IMAGE", options.image, "namespace/name").required();
  app.option("--registry", options.registry, "whose /v2/repositories/IMAGE/tags is read").value("URL");
  app.option("--state-dir", options.state_dir, "where the last look is kept, as IMAGE.tsv").value("DIR");
  app.option("--flag-file", options.flag_file, "file that reports of changes are appended to")
      .value("FILE")
      .no_default();
  app.option("--post", options.post_url, "URL that a report is posted to, as JSON {\"text\"}")
      .value("URL")
      .no_default();
  app.option("--retry-after", options.retry_after_s, "pause before the second try").range(0, 3600).value("S");
  options.common.add_to(app, {cli::Common::kOut});
  cli::add_format(app, options.common, {"table", "json"});
  app.example("image-watch vllm/vllm-openai --state-dir watch --flag-file watch/CHANGED", "once a day, by a timer");
}

Status check_image(const std::string& image) {
  const auto parts = split(image, '/');
  const bool plain = std::all_of(image.begin(), image.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("._-/").find(c) != std::string_view::npos;
  });
  if (parts.size() == 2 && plain && !parts[0].empty() && !parts[1].empty() && parts[0][0] != '.' && parts[1][0] != '.')
    return {};
  return fail(Errc::kUsage, "an image is namespace/name, of a-z 0-9 . _ -", image);
}

Result<Page> fetch_page(http::Transport& transport, const std::string& url, const Options& options) {
  Result<Page> page = fail(Errc::kInternal, "not asked");
  for (int tried = 0; tried < 2; ++tried) {
    if (tried > 0) SystemClock().sleep_until(monotonic_now() + from_s(options.retry_after_s));
    http::Request request;
    request.method = "GET";
    request.url = url;
    request.headers = {{"Accept", "application/json"}};
    request.timeouts.total = 60 * kSecond;
    const auto response = http::fetch(transport, std::move(request));
    if (!response) {
      page = fail(response.error());
    } else if (response->status != 200) {
      page = fail(Errc::kHttp, fmt::format("the registry answered HTTP {}", response->status), url);
    } else {
      page = parse_page(response->body);
    }
    if (page) return page;
  }
  return page;
}

/// The scheme and host of a URL, which every further page has to keep.
std::string origin_of(const std::string& url) { return url.substr(0, url.find('/', url.find("://") + 3)); }

Result<Tags> fetch_tags(const Options& options) {
  http::TransportOptions network;
  network.use_proxy_env = true;
  const auto transport = http::make_curl_transport(network);
  std::string url = fmt::format("{}/v2/repositories/{}/tags?page_size=100", options.registry, options.image);
  const std::string origin = origin_of(url);
  Tags tags;
  std::set<std::string> seen;
  while (!url.empty()) {
    if (!seen.insert(url).second || seen.size() > kMostPages)
      return fail(Errc::kParse, "the registry's pages never end", url);
    if (origin_of(url) != origin) return fail(Errc::kRefused, "the next page is on another host", url);
    BK_ASSIGN(Page page, fetch_page(*transport, url, options));
    tags.merge(page.tags);
    url = page.next;
  }
  if (tags.empty())
    return fail(Errc::kEnvironment, "the registry lists no tag: taken as an error, not as removals", origin);
  return tags;
}

std::string report_text(const Options& options, const std::vector<std::string>& lines) {
  return fmt::format("{} {}\n{}\n", format_utc(wall_now()), options.image, join(lines, "\n"));
}

Status tell(const Options& options, const std::string& report) {
  if (!options.flag_file.empty()) BK_TRY(append_file(options.flag_file, report));
  if (options.post_url.empty()) return {};
  http::TransportOptions network;
  network.use_proxy_env = true;
  http::Request request;
  request.url = options.post_url;
  request.headers = {{"Content-Type", "application/json"}};
  request.body = Json::object().set("text", report).dump();
  request.timeouts.total = 30 * kSecond;
  const auto transport = http::make_curl_transport(network);
  const auto answer = http::fetch(*transport, std::move(request));
  // The address may hold a token: it is in no message.
  if (!answer) return fail(answer.error().code, "the report was not posted: " + answer.error().what, "--post");
  if (answer->status >= 300) return fail(Errc::kHttp, fmt::format("the report got HTTP {}", answer->status), "--post");
  return {};
}

void print(std::ostream& out, const Options& options, bool first, std::size_t count,
           const std::vector<std::string>& lines) {
  if (options.common.format == "json") {
    Json json = Json::object();
    json.set("schema_version", 1).set("tool", "image-watch").set("version", version()).set("commit", commit());
    json.set("image", options.image).set("tags", count).set("first_look", first).set("changes", lines);
    out << json.dump(2) << "\n";
    return;
  }
  if (first) fmt::print(out, "{}: {} tags recorded\n", options.image, count);
  if (!first && lines.empty()) fmt::print(out, "{}: {} tags, no change\n", options.image, count);
  for (const std::string& line : lines) fmt::print(out, "{}\n", line);
}

}  // namespace

Result<ExitCode> run(cli::Streams& streams, const cli::Args& args) {
  Options options;
  cli::App app("image-watch", "Says when an image's tags changed");
  register_flags(app, options);
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, args));
  if (parsed == cli::Parsed::kAnswered) return ExitCode::kDone;
  BK_TRY(check_image(options.image));
  BK_ASSIGN(cli::Output output, cli::Output::open(streams, options.common.out));
  std::string file = options.image + ".tsv";
  file[file.find('/')] = '_';
  BK_TRY(make_directories(options.state_dir));
  const std::filesystem::path state = std::filesystem::path(options.state_dir) / file;
  const bool first = !std::filesystem::exists(state);
  Tags before;
  if (!first) {
    BK_ASSIGN(const std::string text, read_file(state));
    BK_ASSIGN(before, parse_state(text, state.string()));
  }
  BK_ASSIGN(const Tags after, fetch_tags(options));
  const auto lines = first ? std::vector<std::string>() : changes(before, after);
  // Told first: a report that was not delivered is told again by the next look.
  if (!lines.empty()) BK_TRY(tell(options, report_text(options, lines)));
  BK_TRY(write_file_atomic(state, state_text(after)));
  print(output.stream(), options, first, after.size(), lines);
  BK_TRY(output.close());
  return lines.empty() ? ExitCode::kDone : ExitCode::kFailed;
}

}  // namespace bk::image_watch
