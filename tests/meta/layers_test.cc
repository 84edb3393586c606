#include <catch2/catch.hpp>

#include "base/text.h"
#include "tree.h"

namespace bk::meta {
namespace {

const std::set<std::string> kCode = {".h", ".cc", ".cu", ".cuh"};

TEST_CASE("includes obey LAYERS.txt") {
  const auto allowed = layers();
  REQUIRE(allowed.size() > 15);
  std::vector<std::string> broken;
  int checked = 0;
  for (const SourceFile& file : files_with(kCode)) {
    const std::string layer = layer_of(file.path);
    if (layer.empty()) continue;
    if (allowed.count(layer) == 0) {
      broken.push_back(file.path + ": LAYERS.txt has no line for " + layer);
      continue;
    }
    for (const std::string& name : file.includes()) {
      const std::string target(split(name, '/').front());
      if (name.front() == '<' || target == name || allowed.count(target) == 0) continue;
      ++checked;
      const auto& may = allowed.at(layer);
      if (may.count("*") == 0 && may.count(target) == 0) broken.push_back(file.path + " includes " + name);
    }
  }
  CHECK(checked > 50);
  CHECK(broken == std::vector<std::string>{});
}

TEST_CASE("no program includes another program") {
  std::vector<std::string> broken;
  for (const SourceFile& file : files_with(kCode)) {
    const bool is_program = starts_with(file.path, "bench/") || starts_with(file.path, "fleet/");
    const bool is_library = starts_with(file.path, "harness/");
    if (!is_program && !is_library) continue;
    for (const std::string& name : file.includes()) {
      const bool climbs = starts_with(name, "../");
      const bool names_program =
          starts_with(name, "bench/") || starts_with(name, "fleet/") || starts_with(name, "sim/");
      if (climbs || names_program) broken.push_back(file.path + " includes " + name);
    }
  }
  CHECK(broken == std::vector<std::string>{});
}

/// Third-party headers, and the only places that may name them.
struct Fence {
  std::string header;               ///< start of the name in angle brackets
  std::vector<std::string> places;  ///< starts of paths
};

const std::vector<Fence> kFences = {
    {"<curl/", {"harness/http/"}},
    {"<sqlite3", {"harness/store/"}},
    {"<libpq", {"harness/store/"}},
    {"<Eigen/", {"harness/stats/"}},
    {"<unicode/", {"harness/gate/"}},
    {"<simdjson", {"harness/stream/", "harness/trace/", "harness/base/json.cc", "harness/load/tokenizer_json.cc"}},
    {"<nlohmann/", {"harness/base/json.cc"}},
    {"<CLI/", {"harness/cli/"}},
    {"mpi.h", {"bench/bench-conc-mpi/"}},
    {"<zlib", {"harness/store/", "harness/trace/"}},
    {"<archive", {"overlay/"}},
    {"<httplib", {"bench/ledger/"}},
};

/// Whether a third party may be named in the file.
bool is_inside(const Fence& fence, const std::string& path) {
  for (const std::string& place : fence.places) {
    if (starts_with(path, place)) return true;
  }
  return false;
}

bool is_header(const std::string& path) { return path.size() > 2 && path.compare(path.size() - 2, 2, ".h") == 0; }

TEST_CASE("third parties are named where DESIGN lets them") {
  std::vector<std::string> broken;
  std::set<std::string> seen;
  for (const SourceFile& file : files_with(kCode)) {
    if (layer_of(file.path).empty()) continue;
    for (const std::string& name : file.includes()) {
      for (const Fence& fence : kFences) {
        if (!starts_with(name, fence.header)) continue;
        seen.insert(fence.header);
        if (!is_inside(fence, file.path)) broken.push_back(file.path + " includes " + name);
      }
    }
  }
  CHECK(seen.size() >= 5);
  CHECK(broken == std::vector<std::string>{});
}

TEST_CASE("a header that names a third party stays inside its folder") {
  std::set<std::string> internal;
  const auto files = files_with(kCode);
  for (const SourceFile& file : files) {
    if (!starts_with(file.path, "harness/") || !is_header(file.path)) continue;
    for (const std::string& name : file.includes()) {
      for (const Fence& fence : kFences) {
        if (starts_with(name, fence.header)) internal.insert(file.path.substr(std::string("harness/").size()));
      }
    }
  }
  std::vector<std::string> broken;
  for (const SourceFile& file : files) {
    for (const std::string& name : file.includes()) {
      if (internal.count(name) != 0 && layer_of(file.path) != split(name, '/').front()) {
        broken.push_back(file.path + " includes " + name);
      }
    }
  }
  CHECK(broken == std::vector<std::string>{});
}

}  // namespace
}  // namespace bk::meta
