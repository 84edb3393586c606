#include "flags.h"

#include <sstream>

#include "cli/app.h"

namespace bk::sim {
namespace {

/// What the command line says before it is checked.
struct Given {
  std::vector<std::string> knobs;
  std::uint64_t seed = 1;
};

/// Gives the handle of --seed.
cli::Option define(cli::App& app, Options& o, Given& given) {
  app.section("SERVER");
  app.option("--host", o.host, "numeric address to listen on").value("ADDRESS");
  app.option("--port", o.port, "TCP port; 0 picks a free one").range(0, 65535).value("N");
  app.option("--unix-socket", o.unix_socket, "also listen on this unix socket").value("FILE");
  app.option("--served-model-name", o.served_model_name, "the model's id").value("NAME");
  app.option("--api-key-env", o.api_key_env, "environment variable with the key that clients must send").value("NAME");
  app.option("--boot-delay", o.boot_delay_s, "seconds until it listens").range(0, 3600).value("S");
  app.section("ENGINE");
  app.option("--profile", o.profile, "which engine: sim is ten times faster than sim-dsv4")
      .choices({"sim", "sim-dsv4"});
  app.option("--speed", o.speed, "every time of the engine that much shorter").range(0.001, 1000).value("FACTOR");
  app.option("--knob", given.knobs, "NAME=VALUE; --list-knobs names them").value("NAME=VALUE");
  app.flag("--list-knobs", o.list_knobs, "print every knob with its default and effect");
  const cli::Option seeded = app.option("--seed", given.seed, "seed of all noise and luck").value("N");
  app.option("--boot-index", o.boot_index, "number of this boot; each has noise of its own").value("N");
  app.option("--max-model-len", o.max_model_len, "longest prompt plus output, tokens").range(16, 2'000'000).value("N");
  app.section("TESTS");
  app.option("--script", o.script_file, "serve scripted bytes at scripted times, JSON lines").value("FILE");
  app.option("--fault", o.faults, "NAME or NAME=ARG: inject a fault").value("NAME");
  app.option("--write-tokenizer", o.write_tokenizer, "write the tokenizer.json of Hugging Face tokenizers and end")
      .value("FILE");
  return seeded;
}

}  // namespace

Result<Options> parse_flags(int argc, const char* const* argv) {
  Options o;
  cli::App app("sim-engine", "A serving engine with known physics, OpenAI-compatible on the wire");
  app.description(
      "GET /sim/truth tells what it did, to the nanosecond: what measurements are compared with. It prints its address "
      "on standard output once it listens, \"ready\" on standard error, and serves until a signal ends it.");
  app.example("sim-engine --port 8000", "the embedded engine on the port that every program looks at");
  app.example("sim-engine --profile sim-dsv4 --knob GATEFUSE=1 --port 0", "the slower lane with one knob set");
  app.example("sim-engine --list-knobs", "what can be set");
  Given given;
  const cli::Option seeded = define(app, o, given);
  std::ostringstream answer, errors;
  cli::Streams streams{answer, errors};
  BK_ASSIGN(const cli::Parsed parsed, app.parse(streams, cli::Args(argv + (argc > 0 ? 1 : 0), argv + argc)));
  o.done = parsed == cli::Parsed::kAnswered;
  o.text = answer.str();
  if (seeded.given()) o.seed = given.seed;
  for (const std::string& knob : given.knobs) {
    const std::size_t equals = knob.find('=');
    if (equals == std::string::npos) return fail(Errc::kUsage, "--knob takes NAME=VALUE", knob);
    o.knobs[knob.substr(0, equals)] = knob.substr(equals + 1);
  }
  return o;
}

}  // namespace bk::sim
