#include "rows.h"

#include <fmt/format.h>

#include "report/table.h"

namespace bk::check_quality {
namespace {

std::string mark(const std::string& verdict) { return verdict == "pass" ? "o" : verdict == "fail" ? "x" : "?"; }

std::string wrong_line(const Json& question) {
  const auto text = [&question](const char* key) {
    const Json& value = question[key];
    return value.as_string().value_or(value.dump());
  };
  return fmt::format("{} at {} %, {}: expected {}, got {} ({})\n",
                     context_name(question["context_tokens"].as_int().value_or(0)),
                     question["depth_percent"].as_int().value_or(0), text("verdict"), question["expected"].dump(),
                     question["answer"].dump(), text("reason"));
}

}  // namespace

std::string context_name(std::int64_t tokens) {
  return tokens % 1024 == 0 ? fmt::format("{}K", tokens / 1024) : fmt::format("{}", tokens);
}

std::string to_text(const leg::QualityOutcome& outcome) {
  std::string text;
  for (const Json& question : outcome.gate.questions.items()) {
    if (question["verdict"].as_string() != "pass") text += wrong_line(question);
  }
  std::vector<std::vector<std::string>> rows;
  for (const leg::QualityRow& row : outcome.rows) {
    const std::string prompt = row.prompt_tokens ? fmt::format("{}", *row.prompt_tokens) : "-";
    std::vector<std::string> cells = {context_name(row.context_tokens), prompt};
    for (const std::string& verdict : row.verdicts) cells.push_back(mark(verdict));
    cells.push_back(row.note);
    rows.push_back(std::move(cells));
  }
  using report::Align;
  text +=
      report::table({"context", "prompt tokens", "25 %", "50 %", "75 %", ""},
                    {Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft}, rows);
  return text + "=> " + outcome.gate.detail + "\n";
}

report::Records to_records(const leg::QualityOutcome& outcome) {
  report::Records records;
  for (const char* key : {"context_tokens", "prompt_tokens", "depth_25", "depth_50", "depth_75", "note"}) {
    report::Column column;
    column.key = key;
    column.digits = 9;
    records.columns.push_back(std::move(column));
  }
  for (const leg::QualityRow& row : outcome.rows) {
    std::vector<Json> cells = {row.context_tokens, row.prompt_tokens};
    for (const std::string& verdict : row.verdicts) cells.emplace_back(verdict);
    cells.push_back(row.note.empty() ? Json() : Json(row.note));
    records.rows.push_back(std::move(cells));
  }
  return records;
}

}  // namespace bk::check_quality
