#include <algorithm>

#include "base/text.h"
#include "cli/app.h"
#include "cli/app_state.h"

namespace bk::cli {
namespace {

constexpr std::size_t kWidth = 80;

/// Characters, not bytes: continuation bytes of UTF-8 take no column.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

void append_wrapped(std::string& out, std::string_view text, std::size_t indent) {
  const std::string margin(indent, ' ');
  for (const std::string_view paragraph : split_lines(text)) {
    std::string line;
    for (const std::string_view word : split(paragraph, ' ')) {
      if (word.empty()) continue;
      if (!line.empty() && indent + columns(line) + 1 + columns(word) > kWidth) {
        out += margin + line + '\n';
        line.clear();
      }
      if (!line.empty()) line += ' ';
      line += word;
    }
    out += line.empty() ? "\n" : margin + line + '\n';
  }
}

std::string range_text(const OptionSpec& spec) {
  if (spec.at_least && spec.at_most) return fmt::format("{} to {}", *spec.at_least, *spec.at_most);
  if (spec.at_least) return fmt::format("at least {}", *spec.at_least);
  if (spec.at_most) return fmt::format("at most {}", *spec.at_most);
  return {};
}

std::string describe(const OptionSpec& spec) {
  std::string text = spec.help;
  std::vector<std::string> notes;
  if (spec.required) notes.emplace_back("required");
  if (const std::string range = range_text(spec); !range.empty()) notes.push_back(range);
  if (spec.repeated && !spec.positional) notes.emplace_back("may be repeated");
  if (!spec.env.empty()) notes.push_back("environment: " + spec.env);
  if (!spec.fallback.empty()) notes.push_back("default: " + spec.fallback);
  if (!notes.empty()) text += " [" + join(notes, "; ") + "]";
  return text;
}

std::string heading(const OptionSpec& spec) {
  std::vector<std::string> names;
  for (const std::string_view name : split(spec.names, ',')) names.emplace_back(name);
  std::string text = join(names, ", ");
  if (spec.positional && spec.repeated) text += "...";
  if (!spec.positional && !spec.value_name.empty()) text += " " + spec.value_name;
  return text;
}

void append_entry(std::string& out, const std::string& title, const std::string& text) {
  out += "       " + title + '\n';
  append_wrapped(out, text, 14);
}

}  // namespace

class AppHelp {
 public:
  static std::string render(const App::State& state) {
    std::string out = "NAME\n";
    append_wrapped(out, state.name + " - " + state.summary, 7);
    out += "\nSYNOPSIS\n";
    append_wrapped(out, synopsis(state), 7);
    if (!state.description.empty()) {
      out += "\nDESCRIPTION\n";
      append_wrapped(out, state.description, 7);
    }
    append_commands(out, state);
    append_options(out, state);
    if (!state.examples.empty()) out += "\nEXAMPLES\n";
    for (const auto& [command, meaning] : state.examples) append_entry(out, command, meaning);
    out += "\nEXIT STATUS\n";
    append_wrapped(out,
                   "0 done; 1 a gate failed, a regression, or some requests failed; 2 wrong usage or a refusal; "
                   "3 environment, I/O, or every request failed; 4 inconclusive; 5 void; 130 interrupted.",
                   7);
    return out;
  }

 private:
  static std::string synopsis(const App::State& state) {
    std::string text = state.name;
    for (const OptionSpec& spec : state.options) {
      if (!spec.positional && spec.required) text += " " + display_name(spec) + " " + spec.value_name;
    }
    text += " [OPTION]...";
    if (!state.subcommands.empty()) text += " COMMAND ...";
    for (const OptionSpec& spec : state.options) {
      if (!spec.positional) continue;
      const std::string name = spec.names + (spec.repeated ? "..." : "");
      text += spec.required ? " " + name : " [" + name + "]";
    }
    return text;
  }

  static void append_commands(std::string& out, const App::State& state) {
    if (state.subcommands.empty()) return;
    out += "\nCOMMANDS\n";
    for (const auto& [name, app] : state.subcommands) append_entry(out, name, app->state_->summary);
    append_wrapped(out, "\n" + state.name + " COMMAND --help tells about one of them.", 7);
  }

  static void append_options(std::string& out, const App::State& state) {
    std::vector<std::string> sections;
    for (const OptionSpec& spec : state.options) {
      if (std::find(sections.begin(), sections.end(), spec.section) == sections.end()) sections.push_back(spec.section);
    }
    if (std::find(sections.begin(), sections.end(), "Options") == sections.end()) sections.emplace_back("Options");
    for (const std::string& section : sections) {
      std::string title = section;
      std::transform(title.begin(), title.end(), title.begin(),
                     [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
      out += "\n" + title + "\n";
      for (const OptionSpec& spec : state.options) {
        if (spec.section == section) append_entry(out, heading(spec), describe(spec));
      }
      if (section != "Options") continue;
      append_entry(out, "-h, --help", "print this text");
      append_entry(out, "--version", "print name, version and commit");
    }
  }
};

std::string App::help() const { return AppHelp::render(*state_); }

}  // namespace bk::cli
