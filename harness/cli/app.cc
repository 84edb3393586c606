#include "cli/app.h"

#include <limits>

#include "base/text.h"
#include "cli/app_state.h"

namespace bk::cli {
namespace {

Result<std::int64_t> to_whole(const std::string& value) {
  if (const auto number = parse_int(value)) return *number;
  return fail(Errc::kUsage, fmt::format("\"{}\" is not a whole number", value));
}

Result<double> to_real(const std::string& value) {
  if (const auto number = parse_double(value)) return *number;
  return fail(Errc::kUsage, fmt::format("\"{}\" is not a number", value));
}

OptionSpec spec_of(const std::string& names, const std::string& help, std::string value_name) {
  OptionSpec spec;
  spec.names = names;
  spec.help = help;
  spec.value_name = std::move(value_name);
  return spec;
}

template <class T>
void bind_list(OptionSpec& spec, std::vector<T>& target) {
  spec.repeated = true;
  spec.clear = [&target] { target.clear(); };
}

}  // namespace

Option& Option::required() {
  spec_->required = true;
  spec_->fallback.clear();
  return *this;
}
Option& Option::choices(std::vector<std::string> allowed) {
  spec_->value_name = join(allowed, "|");
  spec_->choices = std::move(allowed);
  return *this;
}
Option& Option::range(double at_least, double at_most) {
  spec_->at_least = at_least;
  spec_->at_most = at_most;
  return *this;
}
Option& Option::at_least(double limit) {
  spec_->at_least = limit;
  return *this;
}
Option& Option::env(std::string name) {
  spec_->env = std::move(name);
  return *this;
}
Option& Option::value(std::string name) {
  spec_->value_name = std::move(name);
  return *this;
}
Option& Option::separated_by(char separator) {
  spec_->separator = separator;
  return *this;
}
Option& Option::no_default() {
  spec_->fallback.clear();
  return *this;
}

std::string display_name(const OptionSpec& spec) { return std::string(split(spec.names, ',').back()); }

App::App(std::string name, std::string summary) : state_(std::make_unique<State>()) {
  state_->program = name;
  state_->name = std::move(name);
  state_->summary = std::move(summary);
  state_->section = "Options";
}
App::~App() = default;

App& App::description(std::string text) {
  state_->description = std::move(text);
  return *this;
}
App& App::example(std::string command, std::string meaning) {
  state_->examples.emplace_back(std::move(command), std::move(meaning));
  return *this;
}
App& App::section(std::string heading) {
  state_->section = std::move(heading);
  return *this;
}

Option App::add(OptionSpec spec) {
  spec.section = state_->section;
  state_->options.push_back(std::move(spec));
  return Option(state_->options.back());
}

Option App::flag(const std::string& names, bool& target, const std::string& help) {
  OptionSpec spec = spec_of(names, help, "");
  spec.set = [&target](const std::string& value) -> Status {
    target = value != "false" && value != "0";
    return {};
  };
  return add(std::move(spec));
}

Option App::flag(const std::string& names, std::function<void()> when_given, const std::string& help) {
  OptionSpec spec = spec_of(names, help, "");
  spec.set = [when_given = std::move(when_given)](const std::string&) -> Status {
    when_given();
    return {};
  };
  return add(std::move(spec));
}

Option App::option(const std::string& names, std::string& target, const std::string& help) {
  OptionSpec spec = spec_of(names, help, "TEXT");
  spec.fallback = target;
  spec.set = [&target](const std::string& value) -> Status {
    target = value;
    return {};
  };
  return add(std::move(spec));
}

Option App::option(const std::string& names, int& target, const std::string& help) {
  OptionSpec spec = spec_of(names, help, "N");
  spec.fallback = std::to_string(target);
  spec.set = [&target](const std::string& value) -> Status {
    BK_ASSIGN(const std::int64_t number, to_whole(value));
    if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max()) {
      return fail(Errc::kUsage, fmt::format("{} is too large", value));
    }
    target = static_cast<int>(number);
    return {};
  };
  return add(std::move(spec));
}

Option App::option(const std::string& names, std::int64_t& target, const std::string& help) {
  OptionSpec spec = spec_of(names, help, "N");
  spec.fallback = std::to_string(target);
  spec.set = [&target](const std::string& value) -> Status {
    BK_ASSIGN(target, to_whole(value));
    return {};
  };
  return add(std::move(spec));
}

Option App::option(const std::string& names, std::uint64_t& target, const std::string& help) {
  OptionSpec spec = spec_of(names, help, "N");
  spec.fallback = std::to_string(target);
  spec.set = [&target](const std::string& value) -> Status {
    BK_ASSIGN(const std::int64_t number, to_whole(value));
    if (number < 0) return fail(Errc::kUsage, fmt::format("{} is below 0", value));
    target = static_cast<std::uint64_t>(number);
    return {};
  };
  return add(std::move(spec));
}

Option App::option(const std::string& names, double& target, const std::string& help) {
  OptionSpec spec = spec_of(names, help, "X");
  spec.fallback = fmt::format("{}", target);
  spec.set = [&target](const std::string& value) -> Status {
    BK_ASSIGN(target, to_real(value));
    return {};
  };
  return add(std::move(spec));
}

Option App::option(const std::string& names, std::optional<std::string>& target, const std::string& help) {
  OptionSpec spec = spec_of(names, help, "TEXT");
  spec.set = [&target](const std::string& value) -> Status {
    target = value;
    return {};
  };
  return add(std::move(spec));
}

Option App::option(const std::string& names, std::optional<std::int64_t>& target, const std::string& help) {
  OptionSpec spec = spec_of(names, help, "N");
  spec.set = [&target](const std::string& value) -> Status {
    BK_ASSIGN(target, to_whole(value));
    return {};
  };
  return add(std::move(spec));
}

Option App::option(const std::string& names, std::optional<double>& target, const std::string& help) {
  OptionSpec spec = spec_of(names, help, "X");
  spec.set = [&target](const std::string& value) -> Status {
    BK_ASSIGN(target, to_real(value));
    return {};
  };
  return add(std::move(spec));
}

Option App::option(const std::string& names, std::vector<std::string>& target, const std::string& help) {
  OptionSpec spec = spec_of(names, help, "TEXT");
  spec.fallback = join(target, " ");
  bind_list(spec, target);
  spec.set = [&target](const std::string& value) -> Status {
    target.push_back(value);
    return {};
  };
  return add(std::move(spec));
}

Option App::option(const std::string& names, std::vector<std::int64_t>& target, const std::string& help) {
  OptionSpec spec = spec_of(names, help, "N,…");
  for (const std::int64_t number : target) spec.fallback += (spec.fallback.empty() ? "" : ",") + std::to_string(number);
  spec.separator = ',';
  bind_list(spec, target);
  spec.set = [&target](const std::string& value) -> Status {
    BK_ASSIGN(const std::int64_t number, to_whole(value));
    target.push_back(number);
    return {};
  };
  return add(std::move(spec));
}

Option App::option(const std::string& names, std::function<Status(const std::string&)> set, const std::string& help) {
  OptionSpec spec = spec_of(names, help, "TEXT");
  spec.set = std::move(set);
  return add(std::move(spec));
}

Option App::positional(const std::string& name, std::string& target, const std::string& help) {
  Option option = this->option(name, target, help);
  state_->options.back().positional = true;
  return option;
}

Option App::positional(const std::string& name, std::vector<std::string>& target, const std::string& help) {
  Option option = this->option(name, target, help);
  state_->options.back().positional = true;
  return option;
}

App& App::subcommand(const std::string& name, const std::string& summary) {
  auto child = std::make_unique<App>(state_->name + " " + name, summary);
  child->state_->program = state_->program;
  state_->subcommands.emplace_back(name, std::move(child));
  return *state_->subcommands.back().second;
}

const std::string& App::chosen() const { return state_->chosen; }

}  // namespace bk::cli
