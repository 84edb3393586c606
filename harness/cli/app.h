#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/run_main.h"

namespace bk::cli {

/// One flag or positional, as data: parsing fills it, --help prints it. Made by App; change it through Option.
struct OptionSpec {
  std::string names;       ///< "-n,--requests", or "FILE" for a positional
  std::string help;        ///< one sentence without a full stop
  std::string value_name;  ///< "N"; empty for a switch
  std::string fallback;    ///< the default as text, for --help; empty: none
  std::string section;     ///< heading in --help
  std::string env;         ///< read when the flag is absent; empty: none
  std::vector<std::string> choices;
  std::optional<double> at_least;
  std::optional<double> at_most;
  char separator = 0;  ///< splits one value into several ("1,2,4"); 0: none
  bool positional = false;
  bool required = false;
  bool repeated = false;
  bool given = false;                                   ///< after parse(): on the command line or in the environment
  std::function<Status(const std::string& value)> set;  ///< called once a value, in order
  std::function<void()> clear;                          ///< empties a list before its first value
};

/// Handle to what was registered: `app.option("--reps", reps, "…").range(1, 1000).value("N");`
class Option {
 public:
  explicit Option(OptionSpec& spec) : spec_(&spec) {}
  Option& required();
  Option& choices(std::vector<std::string> allowed);
  Option& range(double at_least, double at_most);  ///< both ends included
  Option& at_least(double limit);
  Option& env(std::string name);         ///< environment variable that stands in when the flag is absent
  Option& value(std::string name);       ///< placeholder in --help: "URL", "FILE"
  Option& separated_by(char separator);  ///< lists only: "a,b" is two values
  Option& no_default();                  ///< --help shows no default
  [[nodiscard]] bool given() const { return spec_->given; }

 private:
  OptionSpec* spec_;
};

/// What parse() did: filled the targets, or answered --help / --version itself.
enum class Parsed { kRun, kAnswered };

/// A command line: flags bound to variables that outlive the App, positionals, subcommands.
///   App app("bench-dec", "Measures decode speed of a running server");
///   app.option("-n,--reps", reps, "measured repetitions").range(1, 1000);
///   BK_ASSIGN(const Parsed parsed, app.parse(streams, args));
///   if (parsed == Parsed::kAnswered) return ExitCode::kDone;
/// Nothing here throws. Every App has --help (man style) and --version ("name version (commit)").
class App {
 public:
  App(std::string name, std::string summary);
  ~App();
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  App& description(std::string text);                      ///< paragraphs for --help
  App& example(std::string command, std::string meaning);  ///< shown under EXAMPLES
  App& section(std::string heading);                       ///< options registered from here on stand under it

  Option flag(const std::string& names, bool& target, const std::string& help);
  Option flag(const std::string& names, std::function<void()> when_given, const std::string& help);
  /// Text, whole numbers, real numbers: the target's value at registration is the default.
  Option option(const std::string& names, std::string& target, const std::string& help);
  Option option(const std::string& names, int& target, const std::string& help);
  Option option(const std::string& names, std::int64_t& target, const std::string& help);
  Option option(const std::string& names, std::uint64_t& target, const std::string& help);
  Option option(const std::string& names, double& target, const std::string& help);
  /// Empty unless given.
  Option option(const std::string& names, std::optional<std::string>& target, const std::string& help);
  Option option(const std::string& names, std::optional<std::int64_t>& target, const std::string& help);
  Option option(const std::string& names, std::optional<double>& target, const std::string& help);
  /// Lists: the flag may be given several times; number lists take "1,2,4" too.
  Option option(const std::string& names, std::vector<std::string>& target, const std::string& help);
  Option option(const std::string& names, std::vector<std::int64_t>& target, const std::string& help);
  /// Anything else: `set` parses one value and may refuse it.
  Option option(const std::string& names, std::function<Status(const std::string&)> set, const std::string& help);
  Option positional(const std::string& name, std::string& target,
                    const std::string& help);  ///< optional unless required()
  Option positional(const std::string& name, std::vector<std::string>& target, const std::string& help);

  /// A subcommand with flags of its own. The App stays the owner. An App with subcommands needs one on the command
  /// line.
  App& subcommand(const std::string& name, const std::string& summary);
  /// The subcommand that the command line chose ("run"); empty when there is none.
  [[nodiscard]] const std::string& chosen() const;

  /// Fills the targets. --help and --version are answered on streams.out. kUsage, in one line that names the flag, the
  /// nearest name when it was misspelt, and where help is.
  [[nodiscard]] Result<Parsed> parse(Streams& streams, const Args& args);
  /// The text of --help.
  [[nodiscard]] std::string help() const;

 private:
  friend class AppParser;
  friend class AppHelp;
  struct State;
  Option add(OptionSpec spec);
  std::unique_ptr<State> state_;
};

}  // namespace bk::cli
