#include "flags.h"

#include <CLI/CLI.hpp>

#include "base/text.h"
#include "base/version.h"

namespace bk::sim {
namespace {

void define(CLI::App& app, Options& o, std::vector<std::string>& knobs) {
  app.add_option("--host", o.host, "numeric address to listen on")->capture_default_str();
  app.add_option("--port", o.port, "TCP port; 0 picks a free one")->check(CLI::Range(0, 65535))->capture_default_str();
  app.add_option("--unix-socket", o.unix_socket, "also listen on this unix socket");
  app.add_option("--profile", o.profile, "sim or sim-dsv4")->capture_default_str();
  app.add_option("--knob", knobs, "NAME=VALUE, repeatable; --list-knobs names them")->take_all();
  app.add_flag("--list-knobs", o.list_knobs, "print every knob with its default and effect");
  app.add_option("--seed", o.seed, "seed of all noise and luck (default 1)");
  app.add_option("--boot-index", o.boot_index, "number of this boot; each has noise of its own")->capture_default_str();
  app.add_option("--served-model-name", o.served_model_name, "the model's id")->capture_default_str();
  app.add_option("--max-model-len", o.max_model_len, "longest prompt plus output, tokens")
      ->check(CLI::Range(16, 2000000));
  app.add_option("--speed", o.speed, "every time of the engine that much shorter")
      ->check(CLI::Range(0.001, 1000.0))
      ->capture_default_str();
  app.add_option("--script", o.script_file, "serve scripted bytes at scripted times (JSON lines)");
  app.add_option("--fault", o.faults, "NAME or NAME=ARG, repeatable: inject a fault")->take_all();
  app.add_option("--api-key-env", o.api_key_env, "environment variable with the key that clients must send");
  app.add_option("--boot-delay", o.boot_delay_s, "seconds until it listens")->check(CLI::Range(0.0, 3600.0));
  app.add_option("--write-tokenizer", o.write_tokenizer, "write the tokenizer.json of Hugging Face tokenizers and end");
}

std::string with_suggestion(const CLI::App& app, int argc, const char* const* argv, const std::string& message) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back("--" + option->get_single_name());
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || std::find(names.begin(), names.end(), name) != names.end()) continue;
    if (const auto meant = nearest(name, names)) return "unknown flag " + name + "; did you mean " + *meant + "?";
  }
  return message;
}

}  // namespace

Result<Options> parse_flags(int argc, const char* const* argv) {
  Options o;
  std::vector<std::string> knobs;
  CLI::App app(
      "A serving engine with known physics: OpenAI-compatible, and the truth that measurements are compared with.",
      "sim-engine");
  app.set_version_flag("--version", fmt::format("sim-engine {} ({})", version(), commit()));
  define(app, o, knobs);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    o.done = true;
    o.text = app.help();
    return o;
  } catch (const CLI::CallForVersion&) {
    o.done = true;
    o.text = fmt::format("sim-engine {} ({})\n", version(), commit());
    return o;
  } catch (const CLI::ParseError& e) {
    return fail(Errc::kUsage, with_suggestion(app, argc, argv, e.what()));
  }
  for (const std::string& knob : knobs) {
    const std::size_t equals = knob.find('=');
    if (equals == std::string::npos) return fail(Errc::kUsage, "--knob takes NAME=VALUE", knob);
    o.knobs[knob.substr(0, equals)] = knob.substr(equals + 1);
  }
  return o;
}

}  // namespace bk::sim
