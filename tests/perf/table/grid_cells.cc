#include "grid_cells.h"

#include <fmt/core.h>

#include "base/text.h"

namespace bk::perf {
namespace {

/// Words of a command line.
std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> out;
  for (const std::string_view word : split(line, ' ')) out.emplace_back(word);
  return out;
}

std::vector<std::string> with(std::vector<std::string> list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

const std::vector<std::string>& reasoning() {
  static const std::vector<std::string> flags = {"--extra-body", R"({"chat_template_kwargs":{"thinking":true}})"};
  return flags;
}

struct Program {
  const char* name;
  const char* flags;
};
constexpr Program kPrograms[] = {
    {"bench-probe", "-n 3 --warmup 0 --tokens 256 --prompt-tokens 1024"},
    {"bench-dec", "-C 1,2,4 --reps 1 --warmup 0 --tokens 384"},
    {"bench-conc", "-C 4 -n 8 --warmup 0 --tokens 256"},
    {"bench-ctx", "--contexts 8K --reps 1 --warmup 0 --tokens 256"},
    {"bench-tp4", "--prefill-tokens 8192 --tokens 256"},
    {"streamgap", "--tokens 1200 --ingest-tokens 16384 --after 0.5"},
    {"benchy", "--pp 8192 --tg 256 --concurrency 1,2 --runs 1 --exact-tg --latency-mode none"},
};

}  // namespace

std::vector<GridCell> grid_cells(bool quick) {
  std::vector<GridCell> cells;
  const std::vector<std::string> still = words("--knob STEP_SD=0");
  for (int k = 0; k <= 7; k += quick ? 7 : 1) {
    for (const Program& program : kPrograms) {
      cells.push_back({program.name, k == 0 ? "1 token an event" : fmt::format("1 to {} tokens an event", k + 1),
                       with(still, words(fmt::format("--knob SPEC_TOKENS={}", k))), words(program.flags)});
    }
  }
  if (quick) return cells;
  for (const Program& program : kPrograms) {
    cells.push_back({program.name, "reasoning first", still, with(words(program.flags), reasoning())});
  }
  cells.push_back({"bench-probe", "cached prefix", still, with(words(kPrograms[0].flags), words("--seed 5")), 2});
  cells.push_back({"bench-conc", "cached prefix", still,
                   words("-C 4 -n 8 --warmup 0 --tokens 256 --prompt-tokens 4096 --seed 5"), 2});
  cells.push_back({"benchy", "cached prefix", still,
                   words("--pp 2048 --tg 256 --depth 8192 --concurrency 1,2 --runs 1 --exact-tg --latency-mode none "
                         "--enable-prefix-caching")});
  cells.push_back({"benchy", "depth, no cache", still,
                   words("--pp 2048 --tg 256 --depth 8192 --runs 1 --exact-tg --latency-mode none --no-cache")});
  cells.push_back({"bench-dec", "content sets", still, words("-C 1 --reps 1 --warmup 0 --tokens 256 --content code")});
  cells.push_back({"bench-ctx", "2K to 128K", still, words("--contexts 2K,32K,128K --reps 1 --warmup 0 --tokens 256")});
  cells.push_back({"bench-conc", "1 and 16 streams", still, words("-C 1,16 -n 16 --warmup 0 --tokens 256")});
  cells.push_back({"bench-conc", "ramp", still, words("-C 8 -n 16 --ramp 1 --warmup 0 --tokens 256")});
  cells.push_back({"bench-conc", "Poisson arrivals", still, words("--rate 8 -n 24 --warmup 0 --tokens 128")});
  cells.push_back(
      {"bench-conc", "constant arrivals", still, words("--rate 8 -n 24 --arrivals constant --warmup 0 --tokens 128")});
  return cells;
}

}  // namespace bk::perf
