#include "generation.h"

#include "base/text.h"
#include "physics/random.h"

namespace bk::sim {
namespace {

// The longest front part of `bytes` that ends with a whole character.
std::size_t whole_characters(std::string_view bytes) {
  const std::size_t size = bytes.size();
  for (std::size_t back = 1; back <= 4 && back <= size; ++back) {
    const auto c = static_cast<unsigned char>(bytes[size - back]);
    if ((c & 0xC0) == 0x80) continue;
    const std::size_t need = c < 0x80 ? 1 : c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    return need <= back ? size : size - back;
  }
  return size;
}

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t h = 1469598103934665603ULL;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return h;
}

}  // namespace

Generation::Generation(Loop& loop, HttpServer& server, const Tokenizer& tokenizer, const Faults& faults, Truth& truth,
                       physics::Engine& engine, std::uint64_t seed, std::uint64_t boot_index, std::string model)
    : loop_(loop),
      server_(server),
      tokenizer_(tokenizer),
      faults_(faults),
      truth_(truth),
      engine_(engine),
      seed_(seed),
      boot_(boot_index),
      model_(std::move(model)) {}

AnswerPlan Generation::plan_answer(const GenRequest& r, int choice) {
  AnswerPlan plan;
  const std::uint64_t content = hash_text(r.prompt);
  plan.korean = has_hangul(r.question);
  const std::uint64_t given = static_cast<std::uint64_t>(r.seed.value_or(0));
  // At temperature 0 the opening is the prompt's alone; later on boots part ways, as reductions in another order do.
  const std::uint64_t greedy = engine_.params().logit_bug ? physics::mix({seed_, boot_}) : 0;
  plan.first_seed = physics::mix(
      {content, r.temperature == 0 ? greedy : physics::mix({given, static_cast<std::uint64_t>(requests_)})});
  plan.seed = physics::mix({plan.first_seed, seed_, boot_, static_cast<std::uint64_t>(choice)});
  plan.prose_tokens = 400 + static_cast<std::int64_t>(physics::mix({content, 77}) % 1600);
  const int every = engine_.params().korean_corrupt_every;
  if (plan.korean && every > 0) plan.corrupt = ++korean_ % every == 0;
  const std::string_view question = question_in(r.question);
  const std::string document = engine_.params().stride_bug ? shallow_view(r.prompt) : r.prompt;
  auto found = question.empty() ? std::vector<std::string>() : find_answer(document, question);
  const bool lost =
      found.empty() && engine_.params().stride_bug && document.size() < r.prompt.size() && !question.empty();
  if (found.empty() && !question.empty()) found = find_answer(kCommonKnowledge, question);
  if (!found.empty()) plan.fixed = join(found, " ");
  if (lost) plan.fixed = "The text does not say.";
  if (r.thinking && r.chat) {
    plan.reasoning = plan.fixed ? "Look for the sentence that speaks of it."
                                : "First consider what is asked, then write it down in order.";
    for (std::uint64_t i = 0; i < 2; ++i) plan.reasoning += " " + sentence(plan.korean, content, 100 + i);
  }
  return plan;
}

void Generation::add_choice(Active& active, int index, std::vector<std::uint64_t> chain) {
  const GenRequest& r = active.request;
  Choice choice;
  choice.tokens = std::make_unique<AnswerTokens>(tokenizer_, plan_answer(r, index));
  const std::int64_t natural = std::max<std::int64_t>({choice.tokens->natural_length(), r.min_tokens, 1});
  choice.natural_end = !r.ignore_eos && natural <= r.max_tokens;
  choice.target = choice.natural_end ? natural : r.max_tokens;
  choice.whole.index = index;
  physics::Work work;
  work.prompt_tokens = static_cast<std::int64_t>(r.prompt_ids.size());
  work.max_tokens = choice.target;
  work.content = physics::mix({hash_text(r.prompt), static_cast<std::uint64_t>(index)});
  work.block_hashes = std::move(chain);
  choice.sequence = engine_.add(std::move(work));
  places_[choice.sequence] = {active.connection, active.choices.size()};
  active.choices.push_back(std::move(choice));
}

void Generation::start(Connection& connection, GenRequest request, TruthRecord& record) {
  ++requests_;
  auto active = std::make_unique<Active>();
  active->connection = connection.id();
  active->request = std::move(request);
  active->record = &record;
  active->head = {record.id, model_, wall_now() / kSecond, active->request.chat};
  active->usage.prompt = record.prompt_tokens = static_cast<std::int64_t>(active->request.prompt_ids.size());
  const auto chain = physics::block_chain(active->request.prompt_ids, engine_.params().block_tokens);
  for (int i = 0; i < active->request.n; ++i) add_choice(*active, i, chain);
  if (active->request.stream) {
    const std::string extra = fmt::format("x-request-id: {}\r\n", record.id);
    const auto begin = [this, id = connection.id(), extra, &record, chat = active->head.chat] {
      Connection* c = server_.find(id);
      if (c == nullptr) return;
      record.head_sent = c->begin_chunked(200, "text/event-stream; charset=utf-8", extra);
      const auto found = active_.find(id);
      if (found == active_.end() || !faults_.role_only_first || !chat) return;
      found->second->choices[0].role_sent = true;
      c->send_chunk(framed(role_event(found->second->head, 0, nullptr, nullptr)));
    };
    active_[connection.id()] = std::move(active);
    if (faults_.slow_headers_ms) {
      auto& slow = *active_[connection.id()];
      slow.paused = true;
      loop_.at(record.received + from_ms(*faults_.slow_headers_ms), [this, begin, id = connection.id()] {
        begin();
        const auto found = active_.find(id);
        if (found == active_.end()) return;
        found->second->paused = false;
        send_events(*found->second, {}, 0);
      });
    } else {
      begin();
    }
  } else {
    active_[connection.id()] = std::move(active);
  }
  if (!stepping_) begin_step(monotonic_now());
}

void Generation::forget(std::uint64_t connection_id) {
  const auto found = active_.find(connection_id);
  if (found == active_.end()) return;
  for (const Choice& choice : found->second->choices) {
    if (!choice.done) ++finished_.abort;
  }
  close(connection_id, "client_gone");
}

void Generation::close(std::uint64_t connection, const char* outcome) {
  const auto found = active_.find(connection);
  if (found == active_.end()) return;
  for (const Choice& choice : found->second->choices) {
    engine_.cancel(choice.sequence);
    places_.erase(choice.sequence);
  }
  found->second->record->outcome = outcome;
  if (found->second->record->end == 0) found->second->record->end = monotonic_now();
  active_.erase(found);
  if (on_finished_) loop_.later(on_finished_);
}

void Generation::begin_step(Nanos at) {
  if (engine_.idle()) return;
  stepping_ = true;
  physics::Step step = engine_.step();
  const Nanos due = at + from_s(step.duration_s);
  loop_.at(due, [this, due, step = std::move(step)] { deliver(step, due); });
}

void Generation::deliver(const physics::Step& step, Nanos due) {
  for (const physics::Emission& emission : step.emissions) {
    const auto place = places_.find(emission.id);
    if (place == places_.end()) continue;
    const auto active = active_.find(place->second.connection);
    emit(*active->second, active->second->choices[place->second.choice], emission);
  }
  stepping_ = false;
  // The next step begins where this one was due to end, unless this machine fell far behind.
  const Nanos now = monotonic_now();
  begin_step(now - due > 50 * kMillisecond ? now : due);
}

void Generation::emit(Active& active, Choice& choice, const physics::Emission& emission) {
  if (emission.first) active.usage.cached = active.record->cached_tokens = emission.cached_tokens;
  Delta delta = take_delta(choice, choice.whole.index, emission.tokens);
  active.usage.completion += emission.tokens;
  active.record->completion_tokens += emission.tokens;
  if (emission.last) delta.finish = choice.natural_end ? "stop" : "length";
  const std::string finish = delta.finish;
  if (active.request.stream) {
    const UsageCounts* usage = active.request.continuous_usage && !faults_.missing_usage ? &active.usage : nullptr;
    std::string events;
    if (!choice.role_sent && active.head.chat) {
      const UsageCounts none{active.usage.prompt, 0, 0};
      events = role_event(active.head, delta.index, usage == nullptr ? nullptr : &none,
                          active.request.token_ids ? &active.request.prompt_ids : nullptr);
    }
    choice.role_sent = true;
    events += delta_event(active.head, delta, active.request.token_ids, usage);
    if (faults_.empty_chunks) events += delta_event(active.head, {delta.index, {}, {}, {}, {}}, false, usage);
    const std::uint64_t connection = active.connection;
    send_events(active, events, emission.tokens);
    if (active_.find(connection) == active_.end()) return;  // an injected fault ended it
  } else {
    choice.whole.content += delta.content;
    choice.whole.reasoning += delta.reasoning;
    choice.whole.ids.insert(choice.whole.ids.end(), delta.ids.begin(), delta.ids.end());
    choice.whole.finish = finish;
    active.record->events.push_back({monotonic_now(), emission.tokens});
  }
  if (!finish.empty()) finish_choice(active, choice);
}

Delta Generation::take_delta(Choice& choice, int index, int tokens) {
  Delta delta;
  delta.index = index;
  for (int i = 0; i < tokens; ++i) {
    const AnswerToken token = choice.tokens->next();
    delta.ids.push_back(token.id);
    (token.reasoning ? choice.held_reasoning : choice.held) += tokenizer_.bytes_of(token.id);
  }
  choice.given += tokens;
  const bool last = choice.given >= choice.target;
  for (auto [held, text] :
       {std::pair(&choice.held, &delta.content), std::pair(&choice.held_reasoning, &delta.reasoning)}) {
    const std::size_t whole = last ? held->size() : whole_characters(*held);
    *text = held->substr(0, whole);
    held->erase(0, whole);
  }
  return delta;
}

}  // namespace bk::sim
