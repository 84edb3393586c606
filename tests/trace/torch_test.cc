#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "trace/reader.h"

using namespace bk;
using namespace bk::trace;

namespace {

const std::string kTraces = std::string(BK_SOURCE_DIR) + "/tests/fixtures/traces/";

struct Sum {
  std::int64_t count = 0, ns = 0;
};

/// Sums by name of the events whose category is one of `categories`.
std::map<std::string, Sum> sums_of(const std::string& file, std::initializer_list<std::string_view> categories) {
  auto source = open_source(file);
  REQUIRE(source);
  Reader reader(std::move(*source), {false, true});
  std::map<std::string, Sum> sums;
  for (Event event;;) {
    const auto more = reader.next(event);
    REQUIRE(more);
    if (!*more) return sums;
    if (std::find(categories.begin(), categories.end(), event.category) == categories.end()) continue;
    Sum& sum = sums[std::string(event.name)];
    ++sum.count;
    sum.ns += event.dur_ns;
  }
}

Json expected(const std::string& name) {
  const auto text = read_file(kTraces + name + ".expect.json");
  REQUIRE(text);
  auto json = parse_json(*text);
  REQUIRE(json);
  return *json;
}

constexpr double kNanosecond = 0.0005, kMicrosecond = 0.5;

/// Every name of torch's key_averages, and no other: equal counts, and times equal to within `margin_us`.
void check_equal(const std::map<std::string, Sum>& sums, const Json& torch, double margin_us = kNanosecond) {
  std::size_t names = 0;
  for (const auto& [name, figures] : torch.members()) {
    CAPTURE(name);
    ++names;
    const auto found = sums.find(name);
    REQUIRE(found != sums.end());
    CHECK(found->second.count == figures["count"].as_int());
    CHECK(static_cast<double>(found->second.ns) / 1e3 ==
          Approx(*figures["us"].as_double()).margin(margin_us).epsilon(0));
  }
  CHECK(names == sums.size());
}

}  // namespace

TEST_CASE("torch 2.15 on a processor: sums equal its key_averages") {
  const Json json = expected("torch-2.15.0-cpu");
  CHECK(json["cpu_ops"].members().size() == 33);
  check_equal(sums_of(kTraces + "torch-2.15.0-cpu.pt.trace.json.gz", {"cpu_op", "user_annotation"}), json["cpu_ops"]);
}

TEST_CASE("torch 2.11 on an H200: kernels of graphs and of several streams equal its key_averages") {
  struct Case {
    const char* name;
    std::size_t names;
  };
  for (const Case& c : {Case{"graphs", 19}, Case{"eager-streams", 19}, Case{"rank0", 19}, Case{"rank1", 20}}) {
    const std::string name = std::string("torch-2.11.0-") + c.name;
    CAPTURE(name);
    const Json json = expected(name);
    CHECK(json["kernels"].members().size() == c.names);
    const std::string trace = kTraces + name + ".pt.trace.json.gz";
    check_equal(sums_of(trace, {"kernel", "gpu_memcpy", "gpu_memset"}), json["kernels"]);
    // A range's ends are rounded apart from each other before torch writes them.
    check_equal(sums_of(trace, {"gpu_user_annotation"}), json["annotations"], kMicrosecond);
  }
}
