#include "base/text.h"
#include "generation.h"

namespace bk::sim {

std::string Generation::framed(std::string events) const {
  if (!faults_.crlf) return events;
  std::string out;
  for (const char c : events) out += c == '\n' ? "\r\n" : std::string(1, c);
  return out;
}

// Empty `events` releases what a pause held back.
void Generation::send_events(Active& active, const std::string& events, int tokens) {
  Connection* connection = server_.find(active.connection);
  if (connection == nullptr) return;
  if (tokens > 0 && inject(active, *connection)) return;
  if (active.paused) {
    active.waiting_bytes += framed(events);
    active.waiting_tokens.push_back(tokens);
    return;
  }
  const std::string bytes = active.waiting_bytes + framed(events);
  active.waiting_bytes.clear();
  if (!bytes.empty()) {
    const Nanos at = connection->send_chunk(bytes);
    for (const std::int32_t held : active.waiting_tokens) active.record->events.push_back({at, held});
    if (tokens > 0) active.record->events.push_back({at, tokens});
  }
  active.waiting_tokens.clear();
  if (active.waiting_end) end_stream(active, *connection);
}

// Faults that strike a stream before its next event. True when they ended it.
bool Generation::inject(Active& active, Connection& connection) {
  const int event = active.events++;
  if (faults_.cut && event >= *faults_.cut) {
    const std::uint64_t id = active.connection;
    close(id, "fault_cut");
    connection.cut();
    return true;
  }
  if (faults_.error_in_200 && event >= *faults_.error_in_200) {
    const std::uint64_t id = active.connection;
    connection.send_chunk(framed(error_event("EngineCore encountered an issue. See stack trace for the root cause.") +
                                 "data: [DONE]\n\n"));
    close(id, "fault_error");
    connection.end_chunks();
    return true;
  }
  if (faults_.stall_ms && event >= 2 && !active.stalled) {
    active.stalled = active.paused = true;
    loop_.at(monotonic_now() + from_ms(*faults_.stall_ms), [this, id = active.connection, record = active.record] {
      const auto found = active_.find(id);
      if (found == active_.end() || found->second->record != record) return;
      found->second->paused = false;
      send_events(*found->second, {}, 0);
    });
  }
  return false;
}

void Generation::finish_choice(Active& active, Choice& choice) {
  choice.done = true;
  ++(choice.natural_end ? finished_.stop : finished_.length);
  places_.erase(choice.sequence);
  for (const Choice& other : active.choices) {
    if (!other.done) return;
  }
  finish(active);
}

void Generation::finish(Active& active) {
  Connection* connection = server_.find(active.connection);
  if (connection == nullptr) return close(active.connection, "client_gone");
  if (active.request.stream) {
    if (active.paused) {
      active.waiting_end = true;
      return;
    }
    return end_stream(active, *connection);
  }
  std::vector<Delta> choices;
  for (const Choice& choice : active.choices) choices.push_back(choice.whole);
  const std::string body = whole_answer(active.head, choices, faults_.missing_usage ? nullptr : &active.usage,
                                        active.request.token_ids, active.request.prompt_ids);
  const std::string extra = fmt::format("x-request-id: {}\r\n", active.record->id);
  active.record->head_sent = active.record->end = monotonic_now();
  const std::uint64_t id = active.connection;
  close(id, "ok");
  connection->respond(200, "application/json", body, extra);
}

void Generation::end_stream(Active& active, Connection& connection) {
  std::string tail;
  if (active.request.include_usage && !faults_.missing_usage) tail = usage_event(active.head, active.usage);
  tail += "data: [DONE]\n\n";
  active.record->end = connection.send_chunk(framed(tail));
  close(active.connection, "ok");
  connection.end_chunks();
}

}  // namespace bk::sim
