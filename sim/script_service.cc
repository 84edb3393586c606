#include "script_service.h"

#include <fmt/format.h>

#include "base/json.h"

namespace bk::sim {
namespace {
constexpr std::int64_t kPromptTokens = 16;  // what a generated stream's usage claims
}  // namespace

bool ScriptService::serve(Connection& connection, const HttpRequest& request) {
  const std::int64_t index = seen_[request.path]++;
  const ScriptGroup* group = script_.find(request.path, index);
  if (group == nullptr) return false;
  auto play = std::make_unique<Play>();
  play->connection = connection.id();
  play->group = group;
  play->start = request.received;
  const std::string* client_id = request.header("x-request-id");
  play->record =
      &truth_.add(fmt::format("chatcmpl-script-{}", truth_.size()), request.path, request.arrived, request.received);
  if (client_id != nullptr) play->record->client_request_id = *client_id;
  if (group->stream) prepare_stream(*play, request);
  Play& placed = *(plays_[connection.id()] = std::move(play));
  if (group->stream) {
    placed.record->head_sent = monotonic_now();
    send_head(placed, connection);
  }
  schedule(placed);
  return true;
}

void ScriptService::prepare_stream(Play& play, const HttpRequest& request) {
  const ScriptStream& stream = *play.group->stream;
  play.start += stream.first;
  if (stream.spread) {
    // On one grid for all clients: else each request's own arrival would decide the phase.
    play.start = (play.start / stream.every + 1) * stream.every + spread_phase(streams_, stream.every);
  }
  ++streams_;
  play.record->events.reserve(static_cast<std::size_t>(stream.events));
  play.record->prompt_tokens = kPromptTokens;
  play.head = {play.record->id, model_, wall_now() / kSecond, request.path != "/v1/completions"};
  if (const auto doc = parse_json(request.body)) {
    play.continuous_usage = (*doc)["stream_options"]["continuous_usage_stats"].as_bool().value_or(false);
    play.token_ids = (*doc)["return_token_ids"].as_bool().value_or(false);
  }
  for (const int tokens : stream.tokens_per_event) play.ready.push_back(chunk_of(play, tokens, false));
}

void ScriptService::forget(std::uint64_t connection_id) {
  const auto found = plays_.find(connection_id);
  if (found == plays_.end()) return;
  found->second->record->outcome = "client_gone";
  found->second->record->end = monotonic_now();
  plays_.erase(found);
}

void ScriptService::schedule(Play& play) {
  Nanos at = play.start;
  if (play.group->stream) {
    at += static_cast<Nanos>(play.next) * play.group->stream->every;
  } else if (play.next < play.group->lines.size()) {
    at += play.group->lines[play.next].at;
  }
  loop_.at(at, [this, id = play.connection, expected = &play] { play_next(id, expected); });
}

void ScriptService::play_next(std::uint64_t connection_id, const Play* expected) {
  const auto found = plays_.find(connection_id);
  Connection* connection = server_.find(connection_id);
  if (found == plays_.end() || found->second.get() != expected || connection == nullptr) return;
  Play& play = *found->second;
  if (play.group->stream) {
    play_event(play, *connection);
  } else {
    play_line(play, *connection);
  }
}

void ScriptService::send_head(Play& play, Connection& connection) {
  std::string extra, type = "text/event-stream; charset=utf-8";
  for (const auto& [name, value] : play.group->headers) {
    if (name == "content-type" || name == "Content-Type") {
      type = value;
    } else {
      extra += fmt::format("{}: {}\r\n", name, value);
    }
  }
  play.record->head_sent = connection.begin_chunked(play.group->status, type, extra);
  play.head_sent = true;
}

void ScriptService::play_line(Play& play, Connection& connection) {
  const auto& lines = play.group->lines;
  if (play.next == lines.size()) {
    if (!play.head_sent && !play.raw) send_head(play, connection);
    return finish(play, connection, "ok", play.raw);
  }
  const ScriptLine& line = lines[play.next++];
  if (line.kind == ScriptLine::Kind::kCut) return finish(play, connection, "cut", true);
  if (line.kind == ScriptLine::Kind::kRaw) {
    play.raw = true;
    play.record->events.push_back({connection.send(line.bytes), line.tokens});
  } else {
    if (!play.head_sent) send_head(play, connection);
    play.record->events.push_back({connection.send_chunk(line.bytes), line.tokens});
  }
  play.record->completion_tokens += line.tokens;
  // The last line's end follows at once.
  if (play.next == lines.size()) return play_line(play, connection);
  schedule(play);
}

std::string ScriptService::chunk_of(const Play& play, int tokens, bool last) const {
  Delta delta;
  for (int i = 0; i < tokens; ++i) delta.content += play.group->stream->text;
  if (play.token_ids) delta.ids.assign(static_cast<std::size_t>(tokens), 7);
  if (last) delta.finish = "length";
  return delta_event(play.head, delta, play.token_ids, nullptr);
}

void ScriptService::play_event(Play& play, Connection& connection) {
  const ScriptStream& stream = *play.group->stream;
  const std::size_t turn = play.next % stream.tokens_per_event.size();
  const int tokens = stream.tokens_per_event[turn];
  play.tokens += tokens;
  ++play.next;
  const bool last = static_cast<std::int64_t>(play.next) == stream.events;
  const UsageCounts usage{kPromptTokens, play.tokens, 0};
  std::string made;
  if (last) made = chunk_of(play, tokens, true);
  const std::string* event = last ? &made : &play.ready[turn];
  if (play.continuous_usage) {
    // In front of the closing brace of the object, which "}\n\n" ends.
    made = fmt::format("{},\"usage\":{{\"prompt_tokens\":{},\"total_tokens\":{},\"completion_tokens\":{}}}}}\n\n",
                       std::string_view(*event).substr(0, event->size() - 3), usage.prompt,
                       usage.prompt + usage.completion, usage.completion);
    event = &made;
  }
  play.record->events.push_back({connection.send_chunk(*event), tokens});
  play.record->completion_tokens = play.tokens;
  if (!last) return schedule(play);
  connection.send_chunk(usage_event(play.head, usage) + "data: [DONE]\n\n");
  finish(play, connection, "ok", false);
}

void ScriptService::finish(Play& play, Connection& connection, const char* outcome, bool cut) {
  play.record->outcome = outcome;
  play.record->end = monotonic_now();
  plays_.erase(connection.id());
  if (cut) {
    connection.cut();
  } else {
    connection.end_chunks();
  }
}

}  // namespace bk::sim
