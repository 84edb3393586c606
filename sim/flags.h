#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace bk::sim {

struct Options {
  std::string host = "127.0.0.1";
  int port = 0;
  std::string unix_socket;
  std::string profile = "sim";
  std::map<std::string, std::string> knobs;
  std::optional<std::uint64_t> seed;
  std::uint64_t boot_index = 0;
  std::string served_model_name = "deepseek-v4-flash";
  std::optional<std::int64_t> max_model_len;
  double speed = 1;
  std::string script_file;
  std::vector<std::string> faults;
  std::string api_key_env;
  double boot_delay_s = 0;
  std::string write_tokenizer;
  bool list_knobs = false;
  bool done = false;  ///< --help or --version: `text` is all there is to do
  std::string text;
};

/// Reads the command line. kUsage names the flag, with a suggestion for a misspelt one.
[[nodiscard]] Result<Options> parse_flags(int argc, const char* const* argv);

}  // namespace bk::sim
