#pragma once
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "chunks.h"
#include "http_server.h"
#include "script.h"
#include "truth.h"

namespace bk::sim {

/// Plays a script to any number of clients at once, each on an absolute schedule of its own.
class ScriptService {
 public:
  ScriptService(Loop& loop, HttpServer& server, Truth& truth, Script script, std::string model)
      : loop_(loop), server_(server), truth_(truth), script_(std::move(script)), model_(std::move(model)) {}
  /// True when the script answers this request.
  [[nodiscard]] bool serve(Connection& connection, const HttpRequest& request);
  void forget(std::uint64_t connection_id);
  [[nodiscard]] int open_streams() const { return static_cast<int>(plays_.size()); }

 private:
  struct Play {
    std::uint64_t connection = 0;
    const ScriptGroup* group = nullptr;
    TruthRecord* record = nullptr;
    Nanos start = 0;       // what the schedule counts from
    std::size_t next = 0;  // line or event
    bool head_sent = false, raw = false;
    // Of a generated stream:
    bool continuous_usage = false, token_ids = false;
    std::int64_t tokens = 0;
    AnswerHead head;
    std::vector<std::string> ready;  // the chunk of each entry of tokens_per_event
  };
  void schedule(Play& play);
  void play_next(std::uint64_t connection_id, const Play* expected);
  void play_line(Play& play, Connection& connection);
  void play_event(Play& play, Connection& connection);
  void send_head(Play& play, Connection& connection);
  void finish(Play& play, Connection& connection, const char* outcome, bool cut);
  [[nodiscard]] std::string chunk_of(const Play& play, int tokens, bool last) const;
  void prepare_stream(Play& play, const HttpRequest& request);

  Loop& loop_;
  HttpServer& server_;
  Truth& truth_;
  Script script_;
  std::string model_;
  std::map<std::string, std::int64_t, std::less<>> seen_;  // requests by path
  std::uint64_t streams_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Play>> plays_;
};

}  // namespace bk::sim
