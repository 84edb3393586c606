#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <optional>

#include "base/file.h"
#include "base/process.h"
#include "ledger/report_page.h"
#include "ledger_fixture.h"
#include "run_ledger.h"

using namespace bk;

namespace {

constexpr const char* kHostile = "</script><script>document.title='taken'</script><!-- <img src=x> & \"'";

std::string filled(const TempDir& dir) {
  const std::string path = dir.path() / "results.db";
  store::Database db = store::Database::open(path).value();
  ledger::fixture::fill(db);
  REQUIRE(db.add_note({0, "note-3", "ledger", "", kHostile, kHostile, 5}));
  REQUIRE(db.add_note({0, "note-4", "bracket", "aaaa111100000000", kHostile, kHostile, 6}));
  return path;
}

std::string data_in(const std::string& page) {
  const std::string mark = R"(<script type="application/json" id="data">)";
  const std::size_t begin = page.find(mark) + mark.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

}  // namespace

TEST_CASE("the page needs no other file, and no text of the database is markup in it") {
  TempDir dir;
  const std::string path = filled(dir);
  const auto done = ledger::fixture::run_ledger({"report", "--html", "--db", path, "--out", "-"});
  REQUIRE(done.code == 0);
  std::string frame = done.out;
  frame.erase(frame.find(data_in(done.out)), data_in(done.out).size());
  for (const char* outside : {" src=", "<link", "@import", "https://", "url("}) {
    CAPTURE(outside);
    CHECK(frame.find(outside) == std::string::npos);
  }
  CHECK(frame.find("@css@") == std::string::npos);
  CHECK(done.out.find("document.title='taken'</script>") == std::string::npos);
  const Json data = parse_json(data_in(done.out)).value();
  REQUIRE(data["brackets"].items().size() == 4);
  CHECK(data["notes"].items()[0]["text"].as_string() == kHostile);
  const Json& first = data["brackets"].items()[0];
  CHECK(first["notes"].items()[0]["author"].as_string() == kHostile);
  CHECK(first["verdict"]["word"].as_string() == "adopted");
  CHECK(first["assessment"]["raw"].dump() == "[3.4674,2.1,4.85]");
  CHECK(first["boots"].items()[1]["cells"]["C=1"]["decode_tok_s"].dump() == "[64.28,64.0,64.5,3,3,1]");
  CHECK(first["boots"].items()[1]["gates"].dump() == R"([["check-quality",8,9,"fail"]])");
  CHECK(first["points"].items().size() == 7);
  CHECK(ledger::fixture::run_ledger({"report", "--db", path, "--out", "-"}).out == done.out);
}

TEST_CASE("samples are in the page for the newest brackets only") {
  TempDir dir;
  store::Database db = store::Database::open(filled(dir)).value();
  const Json data = ledger::report_data(db, 2).value();
  CHECK(data["brackets"].items()[0]["detail"].as_bool() == false);
  CHECK(data["brackets"].items()[0]["points"].items().empty());
  CHECK(data["brackets"].items()[2]["detail"].as_bool() == true);
  CHECK(data["brackets"].items()[2]["points"].items().size() == 1);
}

namespace {

/// The document as Chromium leaves it; nothing, with a warning, where that is not installed.
std::optional<std::string> dom_of(const TempDir& dir, const std::string& page) {
  if (!std::filesystem::exists("/usr/bin/chromium")) {
    WARN("skipped: Chromium is not installed (Debian package chromium)");
    return {};
  }
  Command browser;
  browser.argv = {"chromium",
                  "--headless=new",
                  "--disable-gpu",
                  "--dump-dom",
                  "--virtual-time-budget=3000",
                  "--user-data-dir=" + (dir.path() / "profile").string()};
  if (geteuid() == 0) browser.argv.emplace_back("--no-sandbox");
  browser.argv.push_back("file://" + page);
  browser.env["HOME"] = dir.path();
  const auto done = run_captured(browser, 100 * kSecond);
  REQUIRE(done);
  REQUIRE(done->exit.ok());
  return done->out;
}

}  // namespace

TEST_CASE("a browser draws it") {
  TempDir dir;
  const std::string page = dir.path() / "report.html";
  REQUIRE(ledger::fixture::run_ledger({"report", "--db", filled(dir), "--out", page}).code == 0);
  const auto dom = dom_of(dir, page);
  if (!dom) return;
  CHECK(dom->find("<title>Measurements</title>") != std::string::npos);
  for (const char* text : {"judged effect of each bracket", "<circle", "check-quality 8/9 fail", "Each bracket",
                           "sim|dsv4 · ONESHOT 0 -&gt; 1", "&lt;/script&gt;&lt;script&gt;"}) {
    CAPTURE(text);
    CHECK(dom->find(text) != std::string::npos);
  }
}

TEST_CASE("a first tap shows figures and a second opens the bracket; paper opens every bracket and closes it after") {
  TempDir dir;
  const std::string page = dir.path() / "report.html";
  REQUIRE(ledger::fixture::run_ledger({"report", "--db", filled(dir), "--out", page}).code == 0);
  std::string html = read_file(page).value();
  html.replace(html.find("</body>"), 7, R"html(<script>
const said = [], opened = () => document.querySelectorAll('details.bracket[open]').length;
const filled = () => document.querySelectorAll('details.bracket dl').length;
const mark = document.querySelector('svg [data-tip]');
const tap = () => mark.dispatchEvent(new PointerEvent('click', { pointerType: 'touch', bubbles: true }));
said.push('before ' + opened());
tap(); said.push('tapped ' + opened() + ' ' + (document.getElementById('tip').textContent === mark.getAttribute('data-tip')));
tap(); said.push('again ' + opened());
dispatchEvent(new Event('beforeprint')); said.push('paper ' + opened() + ' ' + filled());
dispatchEvent(new Event('afterprint')); said.push('after ' + opened());
document.title = said.join(', ');
</script></body>)html");
  REQUIRE(write_file_atomic(page, html));
  const auto dom = dom_of(dir, page);
  if (!dom) return;
  CHECK_THAT(*dom, Catch::Contains("<title>before 1, tapped 1 true, again 2, paper 4 4, after 2</title>"));
}
