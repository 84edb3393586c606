#include "ledger/facts.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "ledger/verdict_words.h"
#include "report/number.h"

namespace bk::ledger {
namespace {

using store::Cell;
using store::TravelRow;

const std::vector<std::string>& columns() {
  static const std::vector<std::string> kColumns = {"date",    "lane",   "axis",  "metric",    "unit",
                                                    "base1",   "cand",   "base2", "delta_pct", "acceptance",
                                                    "verdict", "source", "reason"};
  return kColumns;
}

using Fields = std::map<std::string, std::string>;  // a missing one is ""

Result<Nanos> wall_of(const std::string& date) {
  const auto parts = split(date, '-');
  const auto year = parts.size() == 3 ? parse_int(parts[0]) : std::nullopt;
  const auto month = year ? parse_int(parts[1]) : std::nullopt;
  const auto day = month ? parse_int(parts[2]) : std::nullopt;
  if (day && *year >= 1970 && *year < 2200 && *month > 0 && *day > 0) {
    const std::chrono::year_month_day ymd{std::chrono::year(static_cast<int>(*year)),
                                          std::chrono::month(static_cast<unsigned>(*month)),
                                          std::chrono::day(static_cast<unsigned>(*day))};
    if (ymd.ok()) return std::chrono::sys_days(ymd).time_since_epoch().count() * 86'400 * kSecond;
  }
  return fail(Errc::kUsage, "'" + date + "' is no date like 2026-11-29");
}

/// What differs, as far as the axis says it in one of two forms: "KNOB 0->1 …" and "KNOB=1".
struct Axis {
  std::string knob, base, cand;
};

bool is_name(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(),
                                      [](unsigned char c) { return c < 0x80 && (std::isalnum(c) != 0 || c == '_'); });
}

Axis axis_of(const std::string& text) {
  const auto words = split(text, ' ');
  if (words.size() >= 2 && is_name(words[0])) {
    const std::size_t arrow = words[1].find("->");
    if (arrow != std::string_view::npos && arrow > 0 && arrow + 2 < words[1].size()) {
      return {std::string(words[0]), std::string(words[1].substr(0, arrow)), std::string(words[1].substr(arrow + 2))};
    }
  }
  const std::size_t equal = words[0].find('=');
  if (words.size() == 1 && equal != std::string_view::npos && is_name(words[0].substr(0, equal))) {
    return {std::string(words[0].substr(0, equal)), "", std::string(words[0].substr(equal + 1))};
  }
  return {text, "", ""};
}

std::string better_of(const std::string& unit) {
  if (unit.ends_with("/s")) return "higher";
  return unit == "s" || unit == "ms" || unit == "us" || unit == "ms/step" ? "lower" : "";
}

std::string imported_json(const Fields& fields) {
  Json json = Json::object();
  for (const std::string& name : columns()) {
    const std::string& text = fields.at(name);
    json.set(name, text.empty() ? Json() : Json(text));
  }
  return json.dump();
}

Status add_row(const Fields& f, const std::string& uid, const std::string& file, std::vector<TravelRow>& out) {
  BK_ASSIGN(const Nanos wall, wall_of(f.at("date")));
  const auto word = verdict_of(f.at("verdict"));
  if (!word) return fail(Errc::kUsage, "'" + f.at("verdict") + "' is no verdict; `ledger import --help` lists them");
  const std::string source = file + (f.at("source").empty() ? "" : " (" + f.at("source") + ")");
  const Axis axis = axis_of(f.at("axis"));
  out.push_back({"bracket",
                 {{"uid", uid},
                  {"plan", Cell()},
                  {"profile", f.at("lane")},
                  {"profile_hash", std::string()},
                  {"axis", f.at("axis")},
                  {"knob", axis.knob},
                  {"base_value", axis.base},
                  {"cand_value", axis.cand},
                  {"primary_metric", f.at("metric")},
                  {"primary_cell", std::string()},
                  {"better", better_of(f.at("unit"))},
                  {"created_wall_ns", wall},
                  {"ended_wall_ns", wall},
                  {"state", std::string("done")},
                  {"reason", std::string()},
                  {"reopen_reason", std::string()},
                  {"source", source},
                  {"imported_json", imported_json(f)}},
                 {}});
  out.push_back({"verdict",
                 {{"uid", "v" + uid.substr(1)},
                  {"bracket", uid},
                  {"assessment", Cell()},
                  {"word", *word},
                  {"original_word", f.at("verdict")},
                  {"signed_by", std::string("imported")},
                  {"reason", f.at("reason")},
                  {"override_reason", std::string()},
                  {"created_wall_ns", wall}},
                 {}});
  return {};
}

Result<Fields> fields_of(std::string_view line) {
  const auto parts = split(line, '\t');
  if (parts.size() != columns().size()) {
    return fail(Errc::kUsage, fmt::format("{} columns where {} are due", parts.size(), columns().size()));
  }
  Fields fields;
  for (std::size_t i = 0; i < parts.size(); ++i) fields[columns()[i]] = parts[i] == "-" ? "" : std::string(parts[i]);
  for (const char* needed : {"lane", "axis", "metric"}) {
    if (fields[needed].empty()) return fail(Errc::kUsage, std::string("no ") + needed);
  }
  return fields;
}

/// The numbers in a text, signs and words aside.
std::vector<double> numbers_in(std::string_view text) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    const auto digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    while (digit(end) || (end > i && text[end] == '.' && digit(end + 1))) ++end;
    if (end > i) numbers.push_back(parse_double(text.substr(i, end - i)).value_or(0));
    i = end > i ? end : i + 1;
  }
  return numbers;
}

}  // namespace

Result<std::vector<TravelRow>> parse_facts(std::string_view text, const std::string& file) {
  const auto lines = split_lines(text);
  if (lines.empty() || lines[0] != join(columns(), "\t")) {
    return fail(Errc::kUsage, "the first line has to name the columns " + join(columns(), ", ") + ", tabs between them",
                file + ":1");
  }
  std::vector<TravelRow> rows;
  std::map<std::string_view, int> seen;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const std::string where = fmt::format("{}:{}", file, i + 1);
    const auto fields = fields_of(lines[i]);
    if (!fields) return fail(fields.error().code, fields.error().what, where);
    const std::string uid = sha256_hex(fmt::format("{}\n{}", lines[i], seen[lines[i]]++)).substr(0, 26);
    const Status added = add_row(*fields, uid, file, rows);
    if (!added) return fail(added.error().code, added.error().what, where);
  }
  return rows;
}

std::string acceptance_label(const std::string& text) {
  constexpr double kRawAtMost = 35, kLegacyAtLeast = 40;  // percent: what the older ledger wrote in each convention
  constexpr double kRawOfLegacy = 6.0 / 10.0;             // (k + 1) / 2k with k = 5
  if (!text.starts_with("acc ")) return text;
  std::string_view of_acc = text;
  of_acc = of_acc.substr(0, of_acc.find(';'));
  std::vector<double> numbers = numbers_in(of_acc.substr(0, of_acc.find('(')));
  if (numbers.empty()) return text;
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  if (*high <= kRawAtMost) return text + " [raw]";
  if (*low < kLegacyAtLeast) return text + " [conventions mixed, not converted]";
  const std::string from = report::fixed(*low * kRawOfLegacy, 1), to = report::fixed(*high * kRawOfLegacy, 1);
  return text + " [legacy; raw " + (from == to ? from : from + ".." + to) + "%]";
}

}  // namespace bk::ledger
