#include "script.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/json.h"
#include "base/text.h"

namespace bk::sim {
namespace {

Result<std::string> from_hex(const std::string& hex) {
  std::string bytes;
  if (hex.size() % 2 != 0) return fail(Errc::kParse, "hex needs an even number of digits");
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const auto digit = [&](char c) {
      return std::string_view("0123456789abcdef").find(static_cast<char>(std::tolower(c)));
    };
    const std::size_t high = digit(hex[i]), low = digit(hex[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return fail(Errc::kParse, "not a hex digit");
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

Status check_members(const Json& doc, const std::set<std::string>& known) {
  for (const auto& [name, value] : doc.members()) {
    if (known.count(name) != 0) continue;
    const auto meant = nearest(name, {known.begin(), known.end()});
    return fail(Errc::kParse, meant ? fmt::format("unknown member {}; did you mean {}?", name, *meant)
                                    : fmt::format("unknown member {}", name));
  }
  return {};
}

Result<ScriptStream> read_stream(const Json& doc) {
  BK_TRY(check_members(doc, {"first_ms", "every_ms", "events", "tokens_per_event", "phase", "text"}));
  ScriptStream stream;
  stream.first = from_ms(doc["first_ms"].as_double().value_or(0));
  stream.every = from_ms(doc["every_ms"].as_double().value_or(5));
  stream.events = doc["events"].as_int().value_or(0);
  stream.spread = doc["phase"].as_string() == "spread";
  stream.text = doc["text"].as_string().value_or(stream.text);
  if (const auto tokens = doc["tokens_per_event"].as_int()) stream.tokens_per_event = {static_cast<int>(*tokens)};
  if (doc["tokens_per_event"].is_array()) {
    stream.tokens_per_event.clear();
    for (const Json& n : doc["tokens_per_event"].items())
      stream.tokens_per_event.push_back(static_cast<int>(n.as_int().value_or(0)));
  }
  const bool positive =
      std::all_of(stream.tokens_per_event.begin(), stream.tokens_per_event.end(), [](int n) { return n > 0; });
  if (stream.events < 1 || stream.every < 1 || stream.tokens_per_event.empty() || !positive) {
    return fail(Errc::kParse, "a stream needs events >= 1, every_ms > 0 and tokens_per_event >= 1");
  }
  return stream;
}

Result<std::optional<ScriptLine>> read_line(const Json& doc) {
  ScriptLine line;
  line.at = from_ms(doc["at_ms"].as_double().value_or(0));
  line.tokens = static_cast<std::int32_t>(doc["tokens"].as_int().value_or(0));
  const Json* data = doc.find("data");
  if (const auto raw = doc["raw"].as_string()) {
    line.kind = ScriptLine::Kind::kRaw;
    line.bytes = *raw;
  } else if (doc["cut"].as_bool().value_or(false) || (data != nullptr && data->as_string() == "")) {
    line.kind = ScriptLine::Kind::kCut;
  } else if (data != nullptr) {
    line.bytes = data->as_string().value_or("");
  } else if (const auto hex = doc["hex"].as_string()) {
    BK_ASSIGN(line.bytes, from_hex(*hex));
    if (doc["wire"].as_bool().value_or(false)) line.kind = ScriptLine::Kind::kRaw;
  } else {
    return std::optional<ScriptLine>();
  }
  return std::optional<ScriptLine>(line);
}

Status add_line(Script& script, const Json& doc) {
  if (!doc.is_object()) return fail(Errc::kParse, "a script line is a JSON object");
  BK_TRY(check_members(
      doc, {"path", "request", "at_ms", "data", "hex", "raw", "wire", "cut", "status", "headers", "tokens", "stream"}));
  const std::string path = doc["path"].as_string().value_or("");
  const auto request = doc["request"].as_int();
  auto group = std::find_if(script.groups.begin(), script.groups.end(),
                            [&](const ScriptGroup& g) { return g.path == path && g.request == request; });
  if (group == script.groups.end()) {
    script.groups.push_back({path, request, 200, {}, {}, {}});
    group = std::prev(script.groups.end());
  }
  if (const auto status = doc["status"].as_int()) group->status = static_cast<int>(*status);
  for (const auto& [name, value] : doc["headers"].members()) {
    group->headers[name] = value.as_string().value_or(value.dump());
  }
  if (doc["stream"].is_object()) {
    BK_ASSIGN(group->stream, read_stream(doc["stream"]));
  }
  BK_ASSIGN(auto line, read_line(doc));
  if (line) group->lines.push_back(std::move(*line));
  return {};
}

}  // namespace

const ScriptGroup* Script::find(std::string_view path, std::int64_t index) const {
  const bool generation = path == "/v1/chat/completions" || path == "/v1/completions";
  const ScriptGroup* general = nullptr;
  for (const ScriptGroup& group : groups) {
    if (group.path.empty() ? !generation : group.path != path) continue;
    if (group.request == index) return &group;
    if (!group.request && general == nullptr) general = &group;
  }
  return general;
}

Result<Script> parse_script(std::string_view text) {
  Script script;
  int number = 0;
  for (const std::string_view line : split_lines(text)) {
    ++number;
    if (trim(line).empty() || trim(line).front() == '#') continue;
    const auto doc = parse_json(line);
    const Status status = doc ? add_line(script, *doc) : Status(fail(Error(doc.error())));
    if (!status) return fail(Errc::kParse, status.error().what, fmt::format("script line {}", number));
  }
  for (ScriptGroup& group : script.groups) {
    std::stable_sort(group.lines.begin(), group.lines.end(),
                     [](const ScriptLine& a, const ScriptLine& b) { return a.at < b.at; });
  }
  return script;
}

Nanos spread_phase(std::uint64_t stream, Nanos every) {
  double fraction = 0, weight = 0.5;
  for (; stream != 0; stream >>= 1, weight /= 2) fraction += (stream & 1) != 0 ? weight : 0;
  return static_cast<Nanos>(fraction * static_cast<double>(every));
}

}  // namespace bk::sim
