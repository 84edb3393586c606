#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "answer.h"
#include "chunks.h"
#include "faults.h"
#include "gen_request.h"
#include "http_server.h"
#include "loop.h"
#include "physics/engine.h"
#include "truth.h"

namespace bk::sim {

struct FinishCounts {
  std::int64_t stop = 0, length = 0, abort = 0;
  [[nodiscard]] std::int64_t all() const { return stop + length + abort; }
};

/// Runs the physics in real time: steps begin where the last one was due to end, and their tokens leave when they are
/// due.
class Generation {
 public:
  Generation(Loop& loop, HttpServer& server, const Tokenizer& tokenizer, const Faults& faults, Truth& truth,
             physics::Engine& engine, std::uint64_t seed, std::uint64_t boot_index, std::string model);

  void start(Connection& connection, GenRequest request, TruthRecord& record);
  /// The client of a running request went away.
  void forget(std::uint64_t connection_id);
  [[nodiscard]] const FinishCounts& finished() const { return finished_; }
  /// Called after each request that ended.
  void on_finished(std::function<void()> call) { on_finished_ = std::move(call); }

 private:
  struct Choice {
    physics::SequenceId sequence = 0;
    std::unique_ptr<AnswerTokens> tokens;
    std::int64_t target = 0, given = 0;
    bool natural_end = false, done = false, role_sent = false;
    std::string held, held_reasoning;  // bytes of a character that is not complete yet
    Delta whole;                       // what a request that does not stream gathers
  };
  struct Active {
    std::uint64_t connection = 0;
    GenRequest request;
    AnswerHead head;
    std::vector<Choice> choices;
    TruthRecord* record = nullptr;
    UsageCounts usage;
    int events = 0;
    bool stalled = false;
    bool paused = false;  // a stall: what comes meanwhile waits here
    std::string waiting_bytes;
    std::vector<std::int32_t> waiting_tokens;
    bool waiting_end = false;
  };
  struct Place {
    std::uint64_t connection = 0;
    std::size_t choice = 0;
  };

  [[nodiscard]] AnswerPlan plan_answer(const GenRequest& request, int choice);
  void add_choice(Active& active, int index, std::vector<std::uint64_t> chain);
  void begin_step(Nanos at);
  void deliver(const physics::Step& step, Nanos due);
  void emit(Active& active, Choice& choice, const physics::Emission& emission);
  [[nodiscard]] Delta take_delta(Choice& choice, int index, int tokens);
  void send_events(Active& active, const std::string& events, int tokens);
  [[nodiscard]] bool inject(Active& active, Connection& connection);
  void finish_choice(Active& active, Choice& choice);
  void finish(Active& active);
  void end_stream(Active& active, Connection& connection);
  void close(std::uint64_t connection, const char* outcome);
  [[nodiscard]] std::string framed(std::string events) const;

  Loop& loop_;
  HttpServer& server_;
  const Tokenizer& tokenizer_;
  const Faults& faults_;
  Truth& truth_;
  physics::Engine& engine_;
  std::uint64_t seed_, boot_;
  std::string model_;
  bool stepping_ = false;
  std::int64_t requests_ = 0, korean_ = 0;
  FinishCounts finished_;
  std::function<void()> on_finished_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Active>> active_;  // by connection
  std::unordered_map<physics::SequenceId, Place> places_;
};

}  // namespace bk::sim
