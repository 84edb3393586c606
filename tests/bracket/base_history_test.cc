#include <catch2/catch.hpp>

#include "base/file.h"
#include "boot/fingerprint.h"
#include "bracket/boot_rows.h"
#include "bracket/execute.h"
#include "bracket/history.h"
#include "bracket/stored_plan.h"

using namespace bk;
using namespace bk::bracket;

namespace {

/// A database of base boots of profile "p", each with two samples.
class Past {
 public:
  Past() : database_(*store::Database::open(dir_.path() / "results.db")) {
    host_ = *database_.add_host(store::this_host());
  }

  store::BootRow row(int position) {
    store::BootRow boot;
    boot.host_id = host_;
    boot.position = position;
    boot.arm = "base";
    boot.profile = "p";
    boot.profile_hash = "hash";
    boot.engine_version = "1.0";
    boot.image_digest = "sha256:one";
    boot.machine_json = R"({"host":{"gpus":[{"driver_version":"580.1"}]}})";
    boot.started_wall = ++clock_;
    boot.state = "done";
    return boot;
  }
  void add(const store::BootRow& boot) {
    const auto id = database_.begin_boot(boot);
    REQUIRE(id);
    const auto leg = database_.begin_leg({0, "", {}, *id, "decode", "", "", "", 1, {}, "done", ""});
    REQUIRE(leg);
    for (const int i : {0, 1}) {
      store::SampleRow sample;
      sample.leg_id = *leg, sample.cell = "C=1", sample.position = i, sample.ok = true;
      sample.metrics["decode_tok_s"] = {60.0 + i + static_cast<double>(clock_ % 3), ""};
      REQUIRE(database_.add_sample(sample));
    }
  }
  std::int64_t host_of(const std::string& fingerprint) {
    store::HostRow host = store::this_host();
    host.fingerprint = fingerprint;
    return *database_.add_host(host);
  }
  BaseHistory history(const boot::KnobMap& base = {}) {
    Plan plan;
    plan.profile = "p";
    plan.profile_hash = "hash";
    plan.profile_text = "bracketkit profile 1\np\nDRAFT.values=0 1\nDRAFT=0\nSPEC=none\n";
    plan.base = base;
    const auto out = base_history(database_, plan, std::nullopt);
    REQUIRE(out);
    return *out;
  }

 private:
  TempDir dir_;
  store::Database database_;
  store::RowId host_ = 0;
  std::int64_t clock_ = 0;
};

}  // namespace

TEST_CASE("earlier base boots weigh less for each thing that has changed since", "[bracket]") {
  struct Row {
    std::string what;
    void (*change)(store::BootRow&);
    double weight;
  };
  const Row rows[] = {
      {"nothing", [](store::BootRow&) {}, 1},
      {"driver", [](store::BootRow& b) { b.machine_json = R"({"host":{"gpus":[{"driver_version":"570.2"}]}})"; }, 0.5},
      {"image", [](store::BootRow& b) { b.image_digest = "sha256:two"; }, 0.5},
      {"overlay",
       [](store::BootRow& b) {
         b.machine_json = R"({"host":{"gpus":[{"driver_version":"580.1"}]},"overlay":{"digest":"other"}})";
       },
       0.5},
      {"deployed overlay",
       [](store::BootRow& b) {
         b.machine_json = R"({"host":{"gpus":[{"driver_version":"580.1"}]},"overlay_release":"r2"})";
       },
       0.5},
      {"engine", [](store::BootRow& b) { b.engine_version = "0.9"; }, 0.5},
      {"profile", [](store::BootRow& b) { b.profile_hash = "other"; }, 0.5},
      {"image and engine", [](store::BootRow& b) { b.image_digest = "x", b.engine_version = "0.9"; }, 0.25}};
  for (const Row& r : rows) {
    CAPTURE(r.what);
    Past past;
    for (int i = 0; i < 3; ++i) {
      store::BootRow boot = past.row(i);
      r.change(boot);
      past.add(boot);
    }
    for (int i = 0; i < 2; ++i) past.add(past.row(i));  // today's setting is that of the newest boot
    const BaseHistory h = past.history();
    REQUIRE(h.groups.size() == 2);
    CHECK(h.groups[0].weight == r.weight);
    CHECK(h.groups[1].weight == 1);
    CHECK(h.boots == 5);
    CHECK(h.discounted == (r.weight < 1 ? 3 : 0));
  }
}

TEST_CASE("another host counts a quarter", "[bracket]") {
  Past past;
  for (int i = 0; i < 2; ++i) {
    store::BootRow boot = past.row(i);
    boot.host_id = past.host_of("elsewhere");
    past.add(boot);
  }
  for (int i = 0; i < 2; ++i) past.add(past.row(i));
  const BaseHistory h = past.history();
  REQUIRE(h.groups.size() == 2);
  CHECK(h.groups[0].weight == kDifferingHost);
}

TEST_CASE("boots with another base knob count a quarter, whether it was set or left alone", "[bracket]") {
  Past past;
  for (const char* spec : {"none", "ngram"}) {
    for (int i = 0; i < 2; ++i) {
      store::BootRow boot = past.row(i);
      boot.knobs_json = fmt::format(R"({{"DRAFT":"0","SPEC":"{}","GONE":"7"}})", spec);
      past.add(boot);
    }
  }
  const auto weights = [&](const boot::KnobMap& base) {
    std::vector<double> out;
    for (const auto& group : past.history(base).groups) out.push_back(group.weight);
    return out;
  };
  CHECK(weights({}) == std::vector<double>{1, kDifferingKnobs});
  CHECK(weights({{"SPEC", "ngram"}}) == std::vector<double>{kDifferingKnobs, 1});
  CHECK(weights({{"SPEC", "ngram"}, {"DRAFT", "1"}}) == std::vector<double>{kDifferingKnobs, kDifferingKnobs});
  CHECK(past.history().discounted == 2);
}

TEST_CASE("boots with other knobs are another session, though they follow each other outside any bracket",
          "[bracket]") {
  Past past;
  int position = 0;
  for (const char* spec : {"none", "ngram", "none", "ngram", "ngram"}) {
    store::BootRow boot = past.row(position++);
    boot.knobs_json = fmt::format(R"({{"SPEC":"{}"}})", spec);
    past.add(boot);
  }
  const BaseHistory h = past.history();
  REQUIRE(h.groups.size() == 2);
  const auto orders = [&](std::size_t group) {
    std::vector<double> out;
    for (const auto& boot : h.groups[group].boots) out.push_back(boot.order);
    return out;
  };
  CHECK(orders(0) == std::vector<double>{0, 2});
  CHECK(orders(1) == std::vector<double>{1, 3, 4});
}

TEST_CASE("void, failed and interrupted boots are no history", "[bracket]") {
  Past past;
  for (const char* state : {"void", "failed", "interrupted", "starting", "running"}) {
    store::BootRow boot = past.row(0);
    boot.state = state;
    past.add(boot);
  }
  past.add(past.row(0));
  CHECK(past.history().boots == 0);  // one boot alone says nothing of scatter
  past.add(past.row(1));
  CHECK(past.history().boots == 2);
}

TEST_CASE("a boot's row keeps the image's id that its launcher read, and none without a container", "[bracket]") {
  const TempDir dir;
  store::Database db = *store::Database::open(dir.path() / "results.db");
  Plan plan;
  plan.order = boot_order(2);
  const store::RowId bracket = *store_plan(db, plan, "");
  for (const std::string image : {"sha256:ab", ""}) {
    store::BootRow row;
    row.bracket_id = bracket, row.arm = "base";
    row.id = *db.begin_boot(row);
    boot::BootFacts facts;
    boot::set_image(facts.fingerprint, image);
    REQUIRE(store_facts(db, boot::Profile{}, facts, row));
    const store::BootRow stored = db.boots(bracket)->back();
    CHECK(stored.image_digest == image);
    CHECK((stored.machine_json.find("no_container") != std::string::npos) == image.empty());
  }
}
