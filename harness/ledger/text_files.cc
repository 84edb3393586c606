#include "ledger/text_files.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "ledger/facts.h"
#include "ledger/section.h"
#include "ledger/travel_json.h"
#include "report/csv.h"

namespace bk::ledger {
namespace {

namespace fs = std::filesystem;
using store::ExportScope;

/// First line of every file: what it is, and the form of what follows.
constexpr const char* kHead = R"({"format":"bracketkit-ledger","format_version":1})";

Result<std::string> text_of(store::Database& database, const ExportScope& scope) {
  std::string text = std::string(kHead) + "\n";
  const std::size_t head = text.size();
  BK_TRY(store::export_rows(database, scope, [&](const store::TravelRow& row) -> Status {
    BK_ASSIGN(const Json json, to_json(row));
    text += json.dump() + "\n";
    return {};
  }));
  return text.size() == head ? std::string() : text;
}

/// What a file name may hold on any system.
std::string name_part(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, 40)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x80 && (std::isalnum(byte) != 0 || c == '_') ? c : '-';
  }
  return out.empty() ? "-" : out;
}

std::string file_name(const store::BracketRow& b) {
  return date_of(b.created_wall) + "-" + name_part(b.profile) + "-" + name_part(b.knob) + "-" +
         store::short_uid(b.uid) + ".jsonl";
}

Status write_if_changed(const fs::path& path, const std::string& text, SignedFiles& tally) {
  const auto before = read_file(path);
  if (before && *before == text) return {};
  BK_TRY(write_file_atomic(path, text));
  ++tally.written;
  return {};
}

Status import_lines(store::Importer& importer, std::string_view text, const std::string& path) {
  const auto lines = split_lines(text);
  const auto at = [&](const Error& error, std::size_t line) {
    return fail(error.code, error.what, fmt::format("{}:{}", path, line + 1));
  };
  const auto head = lines.empty() ? Result<Json>(Json()) : parse_json(lines[0]);
  if (!head || (*head)["format"].as_string() != "bracketkit-ledger") {
    return fail(Errc::kUsage, "not a ledger's JSON lines: `ledger export` writes such files", path + ":1");
  }
  if ((*head)["format_version"].as_int() != 1) {
    return fail(Errc::kRefused, "a newer form of these files; use the version that wrote it", path + ":1");
  }
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (trim(lines[i]).empty()) continue;
    if (lines[i].starts_with("<<<<<<<")) return at({Errc::kParse, "a merge conflict of git stands here", {}}, i);
    const auto row = travel_row(lines[i]);
    if (!row) return at(row.error(), i);
    if (const Status added = importer.add(*row); !added) return at(added.error(), i);
  }
  return {};
}

Result<store::TravelRow> calibration_row(std::string_view text) {
  BK_ASSIGN(const Json json, parse_json(text));
  if (!json["false_alarm_max"].as_double()) {
    return fail(Errc::kUsage, "not the output of `bracket calibrate --json`: no 'false_alarm_max'");
  }
  const std::string compact = json.dump();
  store::TravelRow row;
  row.table = "calibration";
  row.columns = {{"uid", store::new_uid()},
                 {"result_json", compact},
                 {"created_wall_ns", wall_now()},
                 {"tool_version", json["tool_version"].as_string().value_or("")}};
  return row;
}

Status import_file(store::Database& database, store::Importer& importer, const std::string& path) {
  BK_ASSIGN(const std::string text, read_file(path));
  const fs::path name = fs::path(path).filename();
  if (name.extension() == ".tsv") {
    BK_ASSIGN(const auto rows, parse_facts(text, name.string()));
    for (const store::TravelRow& row : rows) BK_TRY(importer.add(row));
    return {};
  }
  if (name.extension() != ".json") return import_lines(importer, text, path);
  const auto row = calibration_row(text);
  if (!row) return fail(row.error().code, row.error().what, path);
  BK_ASSIGN(const auto newest, database.newest_calibration());
  const bool is_news = !newest || store::Cell(newest->result_json) != row->columns[1].second;
  return is_news ? importer.add(*row) : Status();
}

Result<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".jsonl") files.push_back(it->path().string());
  }
  if (error) return fail(Errc::kIo, "cannot list the directory: " + error.message(), path);
  if (files.empty()) return fail(Errc::kUsage, "no .jsonl file in the directory", path);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

Status export_jsonl(store::Database& database, std::ostream& out) {
  out << kHead << '\n';
  return store::export_rows(database, {}, [&](const store::TravelRow& row) -> Status {
    BK_ASSIGN(const Json json, to_json(row));
    out << json.dump() << '\n';
    return {};
  });
}

Status export_csv(store::Database& database, std::ostream& out) {
  out << report::csv_line({"bracket", "profile", "axis", "boot", "boot_position", "arm", "boot_state", "leg", "cell",
                           "concurrency", "sample_position", "sample_ok", "accept_raw", "metric", "value",
                           "value_reason"});
  BK_ASSIGN(const auto brackets, database.list_brackets_briefly());
  for (const auto& summary : brackets) {
    const store::BracketRow& b = summary.bracket;
    BK_ASSIGN(const auto points, database.metric_points(b.id));
    for (const store::MetricPoint& p : points) {
      const auto number = [](const std::optional<double>& value) { return value ? Json(*value).dump() : ""; };
      out << report::csv_line({b.uid, b.profile, b.axis, p.boot_uid, std::to_string(p.boot_position), p.arm,
                               p.boot_state, p.leg, p.cell, std::to_string(p.concurrency),
                               std::to_string(p.sample_position), p.sample_ok ? "1" : "0", number(p.accept_raw),
                               p.metric, number(p.value.value), p.value.reason});
    }
  }
  return {};
}

Result<SignedFiles> export_signed(store::Database& database, const std::string& directory) {
  BK_TRY(make_directories(directory));
  BK_ASSIGN(const auto brackets, database.list_brackets_briefly());
  SignedFiles tally;
  for (const auto& summary : brackets) {
    if (!summary.verdict) continue;
    ++tally.brackets;
    BK_ASSIGN(const std::string text, text_of(database, {ExportScope::Kind::kBracket, summary.bracket.id, false}));
    BK_TRY(write_if_changed(fs::path(directory) / file_name(summary.bracket), text, tally));
  }
  BK_ASSIGN(const std::string general, text_of(database, {ExportScope::Kind::kGeneral, 0, false}));
  if (!general.empty()) BK_TRY(write_if_changed(fs::path(directory) / "general.jsonl", general, tally));
  return tally;
}

Result<store::ImportTally> import_path(store::Database& database, const std::string& path) {
  BK_ASSIGN(const auto files, files_of(path));
  BK_ASSIGN(store::Importer importer, store::Importer::begin(database));
  for (const std::string& file : files) BK_TRY(import_file(database, importer, file));
  return importer.finish();
}

}  // namespace bk::ledger
