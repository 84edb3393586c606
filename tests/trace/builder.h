#pragma once
#include <catch2/catch.hpp>
#include <string>

#include "trace/recording.h"

namespace bk::test {

/// A trace written by hand, in microseconds.
class TraceBuilder {
 public:
  TraceBuilder& event(const std::string& category, const std::string& name, const std::string& ts,
                      const std::string& dur, int stream, int device = 0) {
    text_ += (text_.empty() ? "" : ",\n") + std::string(R"({"ph": "X", "cat": ")") + category + R"(", "name": ")" +
             name + R"(", "pid": 0, "tid": 7, "ts": )" + ts + R"(, "dur": )" + dur + R"(, "args": {"device": )" +
             std::to_string(device) + R"(, "stream": )" + std::to_string(stream) + "}}";
    return *this;
  }
  TraceBuilder& kernel(const std::string& name, double ts, double dur, int stream = 7) {
    return event("kernel", name, std::to_string(ts), std::to_string(dur), stream);
  }
  [[nodiscard]] std::string text() const { return R"({"traceEvents": [)" + text_ + "]}"; }
  [[nodiscard]] trace::Recording recording() const {
    auto recorded = trace::record(trace::memory_source(text()), "by hand");
    REQUIRE(recorded);
    return std::move(*recorded);
  }

 private:
  std::string text_;
};

}  // namespace bk::test
