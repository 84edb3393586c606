#pragma once
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/app.h"

namespace bk::cli {

/// What an App holds. A deque, since Option handles point into it.
struct App::State {
  std::string name;  ///< with the parents' names before it: "bracket run"
  std::string program;
  std::string summary;
  std::string description;
  std::string section;
  std::string chosen;
  std::vector<std::pair<std::string, std::string>> examples;
  std::deque<OptionSpec> options;
  std::vector<std::pair<std::string, std::unique_ptr<App>>> subcommands;
  bool help_asked = false;
  bool version_asked = false;
};

/// "--requests" of "-n,--requests"; a positional's name as it is.
[[nodiscard]] std::string display_name(const OptionSpec& spec);

}  // namespace bk::cli
