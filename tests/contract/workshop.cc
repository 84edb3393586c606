#include "contract/workshop.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/sha256.h"

namespace bk::contract {
namespace {

const std::string kSource = BK_SOURCE_DIR;

std::string script_file() {
  static const TempDir dir;
  const std::string path = dir.path() / "script.jsonl";
  REQUIRE(write_file_atomic(path,
                            "{\"path\": \"/start_profile\", \"at_ms\": 0, \"data\": \"{}\"}\n"
                            "{\"path\": \"/stop_profile\", \"at_ms\": 0, \"data\": \"{}\"}\n"
                            "{\"path\": \"/v2/repositories/team/engine/tags\", \"at_ms\": 0, \"data\": "
                            "\"{\\\"results\\\": [{\\\"name\\\": \\\"v1\\\", \\\"digest\\\": \\\"sha256:1\\\", "
                            "\\\"last_updated\\\": \\\"2026-08-12T03:04:05Z\\\"}], \\\"next\\\": null}\"}\n"));
  return path;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// The metrics page, by the shell alone.
std::string page_of(const std::string& url) {
  const std::string port = url.substr(url.rfind(':') + 1);
  const auto ran = run_captured({{"/bin/bash", "-c",
                                  "exec 3<>/dev/tcp/127.0.0.1/" + port +
                                      "; printf 'GET /metrics HTTP/1.0\\r\\n\\r\\n' >&3; sed '1,/^\\r$/d' <&3"},
                                 {},
                                 "",
                                 ""},
                                20 * kSecond);
  REQUIRE(ran);
  REQUIRE(ran->out.find("vllm:") != std::string::npos);
  return ran->out;
}

std::string sample_line(int boot, double value) {
  return fmt::format(R"({{"boot": {}, "arm": "{}", "metric": "step_us", "unit": "us", "cell": "all", "value": {}}})",
                     boot, boot % 2 == 1 ? "cand" : "base", value) +
         "\n";
}

/// A port that nothing listens on at the moment.
int free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  close(fd);
  return ntohs(address.sin_port);
}

std::string texts(const std::string& flavour) {
  std::string lines;
  for (int i = 0; i < 12; ++i) {
    lines += fmt::format(R"({{"prompt": "p{}", "text": "the same beginning {} and {}"}})", i, i, flavour) + "\n";
  }
  return lines;
}

}  // namespace

Workshop::Workshop() : scripted_({"--script", script_file()}) {
  write_profiles();
  write_lane();
  write_inputs();
}

void Workshop::write_profiles() const {
  namespace fs = std::filesystem;
  fs::copy(kSource + "/profiles", path("profiles"));
  REQUIRE(make_directories(path("overlay")));
  fs::copy(kSource + "/overlay/modules", path("overlay/modules"), fs::copy_options::recursive);
  const std::string sim = read_file(path("profiles/sim.env")).value();
  const std::string quick = replaced(sim, "sim-engine --profile sim ", "sim-engine --profile sim --speed 20 ");
  REQUIRE(quick != sim);
  REQUIRE(write_file_atomic(path("profiles/sim.env"), quick));
  REQUIRE(write_file_atomic(path("profiles/llama-cpp.env"),
                            "COMMAND=\"{BIN}/sim-engine --speed 20 --port {PORT} --seed {SEED} --boot-index "
                            "{BOOT_INDEX}\"\nREADY_TIMEOUT_S=30\n"
                            "SPEC=none\nSPEC.values=\"none ngram\"\nSPEC.flag.none=\"--knob NULLKNOB=0\"\n"
                            "SPEC.flag.ngram=\"--knob NULLKNOB=1\"\nSPEC.proof.none='log: ^proof NULLKNOB=0$'\n"
                            "SPEC.proof.ngram='log: ^proof NULLKNOB=1$'\n"));
}

/// A checkout with one overlay module, deployed to this machine alone, into a folder of the workshop.
void Workshop::write_lane() const {
  const auto put = [this](const std::string& name, const std::string& text) {
    REQUIRE(make_directories(std::filesystem::path(path("lane/" + name)).parent_path()));
    REQUIRE(write_file_atomic(path("lane/" + name), text));
  };
  put("package/a.py", "a = 1\n");
  put("overlay/modules/one/manifest.tsv",
      "a.py\ta.py\t" + sha256_hex("a = 1\n") + "\nnew.py\tsub/new.py\tabsent\n-\ta.txt\t" + sha256_hex("") + "\n");
  put("package/a.txt", "");
  put("overlay/modules/one/a.py", "a = 2\n");
  put("overlay/modules/one/new.py", "n = 1\n");
  put("profiles/lane.env",
      "COMMAND=x\nRUNTIME=docker\nIMAGE=i:1\nPORT=8000\nTARGET_PREFIX=/opt/package\nMODULES=one\nNODES=local\n"
      "DEPLOY_DIR=" +
          path("nodes") + "\n");
  const auto made = run_captured({{"/bin/sh", "-c",
                                   "git init -q && git add -A && git -c user.name=t -c user.email=t@example.invalid "
                                   "commit -q -m lane"},
                                  {},
                                  path("lane"),
                                  ""},
                                 30 * kSecond);
  REQUIRE(made);
  REQUIRE(made->exit.ok());
}

void Workshop::write_inputs() const {
  const auto put = [this](const std::string& name, const std::string& text) {
    REQUIRE(write_file_atomic(path(name), text));
  };
  const std::string trace = read_file(kSource + "/tests/fixtures/traces/toy-eager.pt.trace.json.gz").value();
  for (const char* name : {"rank0", "rank1", "a", "b", "before", "after"}) put(std::string(name) + ".json.gz", trace);
  put("steps.json.gz", read_file(kSource + "/tests/fixtures/traces/vllm-0.26.0-decode24.pt.trace.json.gz").value());
  put("nccl.log", "n [0] NCCL INFO Channel 00/02 : 0 1\nn [0] NCCL INFO Using network IB\n");
  put("before.txt", page_of(fast_.url()));
  std::string samples;
  for (int boot = 0; boot < 5; ++boot) {
    for (int i = 0; i < 3; ++i) samples += sample_line(boot, 100 - 10 * (boot % 2) + 0.1 * i + 0.05 * boot);
  }
  put("h200.jsonl", samples);
  put("power.jsonl", replaced(replaced(samples, "step_us", "power"), "\"us\"", "\"W\""));
  put("base1.jsonl", texts("one way to end"));
  put("base2.jsonl", texts("another way to end"));
  put("cand.jsonl", texts("a third way to end"));
  std::string counting;
  for (int i = 0; i < 60; ++i) counting += "one two three four five six seven eight ";
  put("answers.jsonl", Json::object().set("prompt", "count").set("completion", counting).dump() + "\n");
  put("ledger-facts.tsv",
      "date\tlane\taxis\tmetric\tunit\tbase1\tcand\tbase2\tdelta_pct\tacceptance\tverdict\tsource\treason\n"
      "2026-08-08\tdsv4\tONESHOT 0->1\tdecode\ttok/s\t-\t-\t-\t7.5\t-\tadopted\tledger\tone exchange a layer\n");
  put("calibration.json", R"({"tool": "bracket calibrate", "seed": "1", "brackets_per_cell": 20000, "rows": []})");
  put("notes.txt", std::string(40, 'a') + " some notes that repeat, some notes that repeat, some notes that repeat\n");
  REQUIRE(make_directories(path("docs")));
  REQUIRE(make_directories(path("traces")));
  REQUIRE(make_directories(path("models/one")));
  put("models/one/config.json", R"({"num_experts":128,"moe_intermediate_size":768,"quantization_config":{}})");
  REQUIRE(make_directories(path("site-packages")));
}

Captured Workshop::run(const std::string& command) const {
  write_inputs();  // an earlier command may have written over one
  const bool beside_prefill = command.starts_with("streamgap");
  const bool profiled = command.starts_with("profile-step");
  const bool scripted = profiled || command.starts_with("image-watch");
  const std::string& url = beside_prefill ? slow_.url() : scripted ? scripted_.url() : fast_.url();
  std::string text = replaced(command, "http://127.0.0.1:8000", url);
  for (const char* host : {"http://a:8000", "http://b:8000"}) text = replaced(text, host, url);
  const bool any_port = command.starts_with("sim-engine");
  text = replaced(text, "--port 8000", any_port ? "--port 0" : fmt::format("--port {}", free_port()));
  text = replaced(text, "9v0s7pyk", "$(bracket list --format csv | sed -n 2p | cut -d, -f1)");
  text = replaced(text, "xd6fxzbj", "$(bracket list --format csv | sed -n 3p | cut -d, -f1)");
  text = replaced(text, "/opt/venv/lib/python3.12/site-packages/vllm", path("site-packages"));
  for (const char* folder : {"models", "traces"}) {
    text = replaced(text, std::string(" /") + folder, " " + path(folder));
  }
  if (command.starts_with("ledger merge")) text = "check-quality --contexts 2K -q --db laptop.db && " + text;
  // The engine writes its trace a while after it was asked to stop.
  if (profiled) text = "(sleep 1; cp rank0.json.gz traces/) & " + text;
  auto captured = run_captured({{"/bin/sh", "-c", text},
                                {{"PATH", std::string(BK_BIN_DIR) + ":/usr/bin:/bin"},
                                 {"BRACKETKIT_BASE_URL", url},
                                 {"BK_PROFILES", path("profiles")},
                                 // mpirun as root and with more ranks than cores, as on a machine for builds
                                 {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                 {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                 {"OMPI_MCA_rmaps_base_oversubscribe", "1"}},
                                dir_.path().string(),
                                "",
                                true},
                               180 * kSecond);
  INFO(command << (captured ? "" : ": " + captured.error().text()));
  REQUIRE(captured);
  return *captured;
}

std::vector<std::string> program_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(BK_BIN_DIR)) {
    const std::string name = entry.path().filename().string();
    if (name != "bk-perf" && entry.is_regular_file()) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> help_section(const std::string& help, const std::string& title) {
  std::vector<std::string> lines;
  bool inside = false;
  for (const std::string_view line : split_lines(help)) {
    if (!line.empty() && line.front() != ' ') {
      inside = line == title;
      continue;
    }
    if (inside && !trim(line).empty()) lines.emplace_back(line);
  }
  return lines;
}

}  // namespace bk::contract
