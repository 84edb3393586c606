#include <algorithm>
#include <catch2/catch.hpp>

#include "base/json.h"
#include "base/process.h"
#include "checks.h"
#include "look.h"
#include "run.h"
#include "support/run_in_process.h"

namespace bk::fleet_audit {
namespace {

const std::map<std::string, std::string> kGood = {
    {"proactiveness", "0"},  {"persisted", "0"}, {"link.enp1s0np0", "200000"}, {"clock_unit", "enabled"},
    {"sm_mhz", "3003,1998"}, {"order10", "812"}, {"leftovers.docker", ""},     {"gid.rocep1s0", "3"}};

NodeFacts node(const std::string& name, std::map<std::string, std::string> values) {
  return {name, std::move(values), ""};
}

std::vector<NodeFacts> fleet() { return {node("n0", kGood), node("n1", kGood), node("n2", kGood), node("n3", kGood)}; }

Check check_of(const std::vector<Check>& checks, const std::string& rule, const std::string& of_node) {
  for (const Check& check : checks) {
    if (check.rule == rule && check.node == of_node) return check;
  }
  FAIL("no check " << rule << " of " << of_node);
  return {};
}

/// A folder that stands for / of a node.
class Tree {
 public:
  void put(const std::string& path, const std::string& text) const {
    const auto file = dir_.path() / path;
    REQUIRE(make_directories(file.parent_path()));
    REQUIRE(write_file_atomic(file, text));
  }
  [[nodiscard]] std::string root() const { return dir_.path(); }

 private:
  TempDir dir_;
};

void put_good_node(const Tree& tree) {
  tree.put("proc/sys/vm/compaction_proactiveness", "0\n");
  tree.put("etc/sysctl.d/90-serving.conf", "vm.swappiness=1\nvm.compaction_proactiveness = 0\n");
  tree.put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  tree.put("proc/77/stat", "77 (kcompactd0) S 2 0 0 0 -1 69238880 0 0 0 0 150 250 0 0 20 0 1 0 40 0 0\n");
  tree.put("proc/vmstat", "nr_free_pages 1\nthp_fault_alloc 12\ncompact_stall 3\n");
  tree.put("proc/buddyinfo", "Node 0, zone Normal 1 2 3 4 5 6 7 8 9 20 30\nNode 0, zone DMA 0 0 0 0 0 0 0 0 0 2 3\n");
  const std::string port = "sys/class/infiniband/rocep1s0/ports/1/";
  tree.put(port + "gid_attrs/types/0", "IB/RoCE v1\n");
  tree.put(port + "gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001\n");
  tree.put(port + "gid_attrs/types/2", "IB/RoCE v1\n");
  tree.put(port + "gids/2", "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
  tree.put(port + "gid_attrs/types/3", "RoCE v2\n");
  tree.put(port + "gids/3", "0000:0000:0000:0000:0000:ffff:0a00:0001\n");
  tree.put("sys/class/net/enp1s0np0/speed", "200000\n");
}

}  // namespace

TEST_CASE("a fleet that is set up passes every rule") {
  const auto checks = check_fleet(fleet(), 2000);
  CHECK(checks.size() == 7 * 4 + 1);
  for (const Check& check : checks) {
    INFO(check.rule << " " << check.node << ": " << check.what);
    CHECK(check.status == Status::kPass);
  }
}

TEST_CASE("each rule fails on its own value, and is unknown without one") {
  struct Row {
    const char* rule;
    const char* key;
    const char* bad;
  };
  for (const Row& row :
       {Row{"compaction.proactiveness", "proactiveness", "20"}, Row{"compaction.persisted", "persisted", "no"},
        Row{"compaction.persisted", "persisted", "20"}, Row{"link.speed", "link.enp1s0np0", "100000"},
        Row{"link.speed", "link.enp1s0np0", "-1"}, Row{"link.speed", "link.enp1s0np0", ""},
        Row{"clock.cap", "clock_unit", "disabled"}, Row{"clock.sm", "sm_mhz", "3003,2200"},
        Row{"memory.order10", "order10", "0"}, Row{"containers.leftovers", "leftovers.docker", "old-head"}}) {
    INFO(row.rule << " " << row.bad);
    auto nodes = fleet();
    nodes[2].values[row.key] = row.bad;
    CHECK(check_of(check_fleet(nodes, 2000), row.rule, "n2").status == Status::kFail);
    CHECK(check_of(check_fleet(nodes, 2000), row.rule, "n1").status == Status::kPass);
    nodes[2].values.erase(row.key);
    CHECK(check_of(check_fleet(nodes, 2000), row.rule, "n2").status == Status::kUnknown);
  }
}

TEST_CASE("the GID index has to be one number for the fleet") {
  auto nodes = fleet();
  nodes[3].values["gid.rocep1s0"] = "5";
  const Check differs = check_of(check_fleet(nodes, 2000), "roce.gid_index", "");
  CHECK(differs.status == Status::kFail);
  CHECK(differs.what == "n0 rocep1s0 3, n1 rocep1s0 3, n2 rocep1s0 3, n3 rocep1s0 5");
  nodes[3].values["gid.rocep1s0"] = "none";
  const Check without = check_of(check_fleet(nodes, 2000), "roce.gid_index", "");
  CHECK(without.status == Status::kFail);
  CHECK_THAT(without.what, Catch::EndsWith("n3 has no RoCE v2 GID with an IPv4 address"));
  for (NodeFacts& each : nodes) each.values["gid.rocep1s0"] = "none";
  CHECK(check_of(check_fleet(nodes, 2000), "roce.gid_index", "").status == Status::kFail);
  nodes[1].values.erase("gid.rocep1s0");
  CHECK(check_of(check_fleet(nodes, 2000), "roce.gid_index", "").status == Status::kUnknown);
}

TEST_CASE("a node that was not seen whole passes nothing") {
  auto nodes = fleet();
  nodes[1] = read_facts("n1", "proactiveness=0\npersisted=0\n");
  CHECK(nodes[1].error == "the look was cut short");
  for (const Check& check : check_fleet(nodes, 2000)) {
    if (check.node == "n1" || check.node.empty()) CHECK(check.status == Status::kUnknown);
  }
  CHECK(read_facts("n", "a=\x1b[2J\nend=yes\n").values.at("a") == "?[2J");
}

TEST_CASE("the look reads a node's files") {
  const Tree tree;
  put_good_node(tree);
  const auto text = look("local", "no-such.service", tree.root());
  REQUIRE(text);
  INFO(*text);
  const NodeFacts facts = read_facts("local", *text);
  CHECK(facts.error.empty());
  for (const auto& [key, value] : std::map<std::string, std::string>{{"proactiveness", "0"},
                                                                     {"persisted", "0"},
                                                                     {"thp_enabled", "always [madvise] never"},
                                                                     {"thp_fault_alloc", "12"},
                                                                     {"compact_stall", "3"},
                                                                     {"bluetoothd_s", "none"},
                                                                     {"order9", "22"},
                                                                     {"order10", "33"},
                                                                     {"gid.rocep1s0", "3"},
                                                                     {"link.enp1s0np0", "200000"}}) {
    INFO(key);
    REQUIRE(facts.values.contains(key));
    CHECK(facts.values.at(key) == value);
  }
  CHECK(facts.values.at("kcompactd_s") == "4");
}

TEST_CASE("what is persisted is what a boot would set") {
  struct Case {
    std::map<std::string, std::string> files;
    const char* persisted;
  };
  const std::string zero = "vm.compaction_proactiveness=0\n", twenty = "vm.compaction_proactiveness = 20\n";
  const Case kCases[] = {
      {{}, "no"},
      {{{"etc/sysctl.d/90-a.conf", zero}, {"usr/lib/sysctl.d/50-vendor.conf", twenty}}, "0"},
      {{{"etc/sysctl.d/10-a.conf", zero}, {"usr/lib/sysctl.d/50-vendor.conf", twenty}}, "20"},
      {{{"etc/sysctl.d/50-x.conf", zero}, {"usr/lib/sysctl.d/50-x.conf", twenty}}, "0"},
      {{{"etc/sysctl.d/50-x.conf", ""}, {"usr/lib/sysctl.d/50-x.conf", zero}}, "no"},
      {{{"run/sysctl.d/50-x.conf", zero}}, "0"},
      {{{"etc/sysctl.d/a b.conf", "\t-vm/compaction_proactiveness\t=\t0\n"}}, "0"},
      {{{"etc/sysctl.d/a.conf", "#" + zero + ";" + zero}}, "no"},
      {{{"etc/sysctl.d/a.conf", zero}, {"etc/sysctl.conf", twenty}}, "20"},
      {{{"etc/sysctl.conf", zero}, {"usr/lib/systemd/systemd", ""}}, "no"},
  };
  for (const Case& each : kCases) {
    const Tree tree;
    tree.put("etc/hostname", "n\n");
    for (const auto& [path, text] : each.files) tree.put(path, text);
    const auto text = look("local", "no-such.service", tree.root());
    REQUIRE(text);
    INFO(*text);
    CHECK(read_facts("local", *text).values.at("persisted") == each.persisted);
  }
}

TEST_CASE("exit codes: 1 for a failure, 4 for what cannot be read, and no node twice") {
  const Tree bare;
  bare.put("proc/sys/vm/compaction_proactiveness", "0\n");
  bare.put("etc/sysctl.conf", "vm.compaction_proactiveness=0\n");
  const auto unknown = test::run_in_process("fleet-audit", run, {"local", "--root", bare.root(), "--json"});
  const auto json = parse_json(unknown.out);
  REQUIRE(json);
  CHECK((*json)["checks"].items().size() == 8);
  const bool failed = std::any_of((*json)["checks"].items().begin(), (*json)["checks"].items().end(),
                                  [](const Json& check) { return check["result"].as_string() == "FAIL"; });
  CHECK(unknown.code == (failed ? 1 : 4));  // this machine's own clock unit or containers may fail

  bare.put("proc/sys/vm/compaction_proactiveness", "20\n");
  const auto bad = test::run_in_process("fleet-audit", run, {"local", "--root", bare.root(), "--values"});
  CHECK(bad.code == 1);
  CHECK_THAT(bad.out, Catch::Contains("compaction.proactiveness  local  FAIL") && Catch::Contains("persisted"));
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"a", "a"},
                                                {"-oProxyCommand=x"},
                                                {"a b"},
                                                {"a", "--root", "/x"},
                                                {"a", "--clock-unit", "x;reboot"}}) {
    CHECK(test::run_in_process("fleet-audit", run, wrong).code == 2);
  }
}

TEST_CASE("a node that ssh does not reach is unknown and named") {
  if (!run_captured({{"ssh", "-V"}, {}, "", ""}, 10 * kSecond)) {
    WARN("skipped: no ssh here");
    return;
  }
  const auto ran = test::run_in_process("fleet-audit", run, {"no-such-host.invalid"});
  CHECK(ran.code == 4);
  CHECK_THAT(ran.out, Catch::Contains("ssh does not get there"));
}

}  // namespace bk::fleet_audit
