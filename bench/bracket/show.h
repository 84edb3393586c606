#pragma once
#include <iosfwd>
#include <string>

#include "bracket/view.h"
#include "cli/common_flags.h"
#include "command.h"

namespace bk::bracket_tool {

/// "5 boots; C=1: 6 × 128 tokens …": what a plan measures, one line.
[[nodiscard]] std::string plan_text(const bracket::Plan& plan);

/// One screen about one bracket.
void print_view(std::ostream& out, const bracket::View& view);

/// The view of a bracket in a format (table or json) on an output.
[[nodiscard]] Status show_bracket(store::Database& database, const std::string& uid, const std::string& format,
                                  std::ostream& out);

/// `bracket show ID`.
class ShowCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "show"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) override;

 private:
  std::string id_;
  cli::CommonFlags flags_;
};

}  // namespace bk::bracket_tool
