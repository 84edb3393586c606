#pragma once
#include <memory>
#include <string>

#include "flags.h"
#include "generation.h"
#include "physics/knobs.h"
#include "script_service.h"

namespace bk::sim {

/// Routes requests: generation, the small endpoints, metrics, truth.
class Service final : public RequestHandler {
 public:
  Service(Loop& loop, const Options& options, physics::Configured configured, std::uint64_t seed, Faults faults,
          std::string api_key, Script script);
  [[nodiscard]] HttpServer& server() { return server_; }
  /// Exit code once the loop has stopped: 1 when the engine died of an injected fault.
  [[nodiscard]] int exit_code() const { return exit_code_; }

  void on_request(Connection& connection, HttpRequest request) override;
  void on_gone(std::uint64_t connection_id) override;

 private:
  void generate(Connection& connection, const HttpRequest& request, bool chat);
  [[nodiscard]] bool refuse(Connection& connection, const HttpRequest& request);
  [[nodiscard]] bool route_get(Connection& connection, const HttpRequest& request);
  [[nodiscard]] bool route_post(Connection& connection, const HttpRequest& request);
  void models(Connection& connection);
  void metrics(Connection& connection);
  void truth(Connection& connection, const HttpRequest& request);
  void tokenize(Connection& connection, const HttpRequest& request);
  void detokenize(Connection& connection, const HttpRequest& request);
  void error(Connection& connection, const ApiError& error, std::string_view extra_headers = {});
  void after_request();
  [[nodiscard]] std::string new_id(const HttpRequest& request, bool chat);

  Loop& loop_;
  Options options_;
  physics::Configured configured_;
  std::uint64_t seed_;
  Faults faults_;
  std::string api_key_;
  std::string model_;
  Tokenizer tokenizer_;
  physics::Engine engine_;
  Truth truth_;
  HttpServer server_;
  Generation generation_;
  ScriptService script_;
  physics::EngineCounters counters_at_restart_;
  FinishCounts finished_at_restart_;
  bool restarted_ = false;
  double process_start_s_;
  std::int64_t ids_ = 0;
  int rejected_429_ = 0, rejected_503_ = 0;
  bool dying_ = false;
  int exit_code_ = 0;
};

}  // namespace bk::sim
