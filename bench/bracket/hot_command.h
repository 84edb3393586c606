#pragma once
#include <optional>
#include <string>

#include "cli/common_flags.h"
#include "command.h"
#include "leg/pairs.h"
#include "stats/pairs.h"
#include "tool/bench.h"

namespace bk::bracket_tool {

/// `bracket hot`: a knob that needs no reboot, judged by pairs of requests.
class HotCommand final : public Command {
 public:
  [[nodiscard]] const char* name() const override { return "hot"; }
  void register_on(cli::App& app) override;
  Result<cli::ExitCode> run(cli::Streams& streams, const cli::Args& args) override;

 private:
  [[nodiscard]] Result<std::optional<stats::BootVariance>> between_boots() const;
  [[nodiscard]] stats::PairAssessment judge(const std::vector<load::Sample>& samples) const;
  void print(const tool::Bench& bench, const tool::KeepingSink& keep, const tool::Server& server, report::Format format,
             std::ostream& out) const;

  std::string base_, cand_, cand_url_;
  leg::PairsPlan plan_;
  double alpha_ = 0.05, band_pct_ = 0.5;
  std::optional<stats::BootVariance> boot_;
  cli::CommonFlags flags_;
};

/// {"temperature": 0.5} of "temperature=0.5,stop=null": values are JSON, or text where they are none. kUsage for a text
/// without '=' or an empty name.
[[nodiscard]] Result<Json> parse_fields(const std::string& text, const std::string& flag);

}  // namespace bk::bracket_tool
