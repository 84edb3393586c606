#include <CLI/CLI.hpp>
#include <cstdlib>
#include <map>
#include <ostream>

#include "base/text.h"
#include "base/version.h"
#include "cli/app.h"
#include "cli/app_state.h"

namespace bk::cli {
namespace {

Status check_range(const OptionSpec& spec, const std::string& value) {
  const auto number = parse_double(value);
  if (!number) return {};  // the setter says what is wrong with it
  if (spec.at_least && *number < *spec.at_least) {
    return fail(Errc::kUsage, fmt::format("{} is below the least allowed, {}", value, *spec.at_least));
  }
  if (spec.at_most && *number > *spec.at_most) {
    return fail(Errc::kUsage, fmt::format("{} is above the most allowed, {}", value, *spec.at_most));
  }
  return {};
}

Status check_choice(const OptionSpec& spec, const std::string& value) {
  if (spec.choices.empty()) return {};
  for (const std::string& choice : spec.choices) {
    if (choice == value) return {};
  }
  const auto near = nearest(value, spec.choices);
  return fail(Errc::kUsage, fmt::format("\"{}\" is none of {}{}", value, join(spec.choices, ", "),
                                        near ? "; did you mean " + *near + "?" : ""));
}

Status set_values(OptionSpec& spec, const std::vector<std::string>& values) {
  if (spec.clear) spec.clear();
  for (const std::string& value : values) {
    std::vector<std::string_view> parts = {value};
    if (spec.separator != 0) parts = split(value, spec.separator);
    for (const std::string_view part : parts) {
      const std::string text(part);
      BK_TRY(check_choice(spec, text));
      BK_TRY(spec.set(text));
      BK_TRY(check_range(spec, text));
    }
  }
  return {};
}

}  // namespace

/// CLI11 cuts the command line into flags and values; what they mean, and every message, is ours.
class AppParser {
 public:
  AppParser(App& app, Streams& streams) : app_(app), streams_(streams) {}

  Result<Parsed> parse(const Args& args) {
    CLI::App root;
    build(root, app_);
    try {
      root.parse(std::vector<std::string>(args.rbegin(), args.rend()));
    } catch (const CLI::ParseError& error) {
      const std::string text = error.what();
      const auto colon = text.find(':');
      if (colon != std::string::npos && text.find("required") != std::string::npos) {
        return fail(Errc::kUsage, text.substr(0, colon) + " needs a value", help_hint(app_));
      }
      return fail(Errc::kUsage, text, help_hint(app_));
    }
    return finish(root, app_);
  }

 private:
  void build(CLI::App& cli, App& app) {
    cli.set_help_flag();
    cli.allow_extras();
    for (OptionSpec& spec : app.state_->options) {
      CLI::Option* option = nullptr;
      if (spec.value_name.empty() && !spec.positional) {
        option = cli.add_flag(spec.names);
      } else {
        option = cli.add_option(spec.names, [](const CLI::results_t&) { return true; });
        option->type_size(1)->expected(spec.repeated ? -1 : 1)->allow_extra_args(spec.repeated && spec.positional);
      }
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      found_[&spec] = option;
    }
    cli.add_flag("-h,--help", app.state_->help_asked);
    cli.add_flag("--version", app.state_->version_asked);
    for (const auto& [name, child] : app.state_->subcommands) build(*cli.add_subcommand(name), *child);
  }

  Result<Parsed> finish(CLI::App& cli, App& app) {
    App::State& state = *app.state_;
    if (state.help_asked) {
      streams_.out << app.help();
      return Parsed::kAnswered;
    }
    if (state.version_asked) {
      streams_.out << state.program << ' ' << version() << " (" << commit() << ")\n";
      return Parsed::kAnswered;
    }
    if (const auto extras = cli.remaining(false); !extras.empty()) return unknown(app, extras.front());
    for (OptionSpec& spec : state.options) BK_TRY(take(app, spec, *found_.at(&spec)));
    if (state.subcommands.empty()) return Parsed::kRun;
    const auto chosen = cli.get_subcommands();
    if (chosen.empty()) {
      return fail(Errc::kUsage, "a command is missing: " + join(command_names(app), ", "), help_hint(app));
    }
    if (chosen.size() > 1) {
      return fail(Errc::kUsage,
                  fmt::format("two commands at once: {} and {}", chosen[0]->get_name(), chosen[1]->get_name()),
                  help_hint(app));
    }
    state.chosen = chosen.front()->get_name();
    for (const auto& [name, child] : state.subcommands) {
      if (name == state.chosen) return finish(*chosen.front(), *child);
    }
    return fail(Errc::kInternal, "lost the command " + state.chosen);
  }

  Status take(const App& app, OptionSpec& spec, const CLI::Option& option) {
    const std::string name = display_name(spec);
    std::vector<std::string> values = option.results();
    std::string from = name;
    if (values.empty() && !spec.env.empty()) {
      const char* text = std::getenv(spec.env.c_str());
      if (text != nullptr && *text != '\0') {
        values.emplace_back(text);
        from = spec.env;
      }
    }
    spec.given = !values.empty();
    if (values.empty()) {
      if (!spec.required) return {};
      const std::string or_env = spec.env.empty() ? "" : " (or the environment's " + spec.env + ")";
      return fail(Errc::kUsage, name + or_env + " is missing", help_hint(app));
    }
    const bool is_switch = spec.value_name.empty();
    if (values.size() > 1 && !spec.repeated && !is_switch) {
      return fail(Errc::kUsage, fmt::format("{} is given {} times", name, values.size()), help_hint(app));
    }
    for (const std::string& value : values) {
      if (!is_switch && names_a_flag(app, value)) {
        return fail(Errc::kUsage, fmt::format("{} needs a value, but the flag {} follows", name, value),
                    help_hint(app));
      }
    }
    if (const auto set = set_values(spec, values); !set) {
      return fail(set.error().code, from + ": " + set.error().what,
                  set.error().where.empty() ? help_hint(app) : set.error().where);
    }
    return {};
  }

  static std::vector<std::string> flag_names(const App& app) {
    std::vector<std::string> names = {"-h", "--help", "--version"};
    for (const OptionSpec& spec : app.state_->options) {
      if (spec.positional) continue;
      for (const std::string_view name : split(spec.names, ',')) names.emplace_back(name);
    }
    return names;
  }

  static std::vector<std::string> command_names(const App& app) {
    std::vector<std::string> names;
    for (const auto& [name, child] : app.state_->subcommands) names.push_back(name);
    return names;
  }

  static bool names_a_flag(const App& app, const std::string& value) {
    if (value.rfind("--", 0) != 0) return false;
    for (const std::string& name : flag_names(app)) {
      if (name == value) return true;
    }
    return false;
  }

  static std::string help_hint(const App& app) { return "see " + app.state_->name + " --help"; }

  static tl::unexpected<Error> unknown(const App& app, const std::string& extra) {
    const bool is_flag = extra.size() > 1 && extra.front() == '-';
    const bool is_command = !is_flag && !app.state_->subcommands.empty();
    const std::string word = is_flag ? std::string(split(extra, '=').front()) : extra;
    const std::string kind = is_flag ? "unknown flag " : is_command ? "unknown command " : "unexpected argument ";
    std::optional<std::string> near;
    if (is_flag && word.size() > 2) near = nearest(word, flag_names(app));  // any letter is near any other
    if (is_command) near = nearest(word, command_names(app));
    return fail(Errc::kUsage, kind + word + (near ? "; did you mean " + *near + "?" : ""), help_hint(app));
  }

  App& app_;
  Streams& streams_;
  std::map<const OptionSpec*, CLI::Option*> found_;
};

Result<Parsed> App::parse(Streams& streams, const Args& args) {
  try {
    return AppParser(*this, streams).parse(args);
  } catch (const CLI::Error& error) {
    return fail(Errc::kInternal, std::string("the flags of this program contradict each other: ") + error.what());
  }
}

}  // namespace bk::cli
