#include "engine/metrics_page.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace bk::engine {
namespace {

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':'; }
bool is_name_char(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// NaN and infinities in every spelling seen (NaN, -nan, +Inf, inf), else a decimal number with exponent.
std::optional<double> parse_value(std::string_view text) {
  std::string_view digits = text;
  const bool negative = !digits.empty() && digits.front() == '-';
  if (!digits.empty() && (digits.front() == '+' || digits.front() == '-')) digits.remove_prefix(1);
  const std::string lower = to_lower(digits);
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (lower == "inf" || lower == "infinity") {
    return negative ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  }
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || std::signbit(value)) return std::nullopt;
  return negative ? -value : value;
}

/// Reads one line from left to right. Every take_* gives false and leaves the reason when the text does not fit.
class LineReader {
 public:
  explicit LineReader(std::string_view text) : rest_(text) {}

  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
  void skip_blanks() {
    while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }
  bool take_char(char c) {
    if (peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view take_word() {
    std::size_t n = 0;
    while (n < rest_.size() && !is_blank(rest_[n])) ++n;
    return take(n);
  }
  bool take_name(std::string& name) {
    if (rest_.empty() || !is_name_start(rest_.front())) return refuse("a metric or label name was expected");
    std::size_t n = 1;
    while (n < rest_.size() && is_name_char(rest_[n])) ++n;
    name = take(n);
    return true;
  }
  bool take_number(double& value) {
    const std::string_view word = take_word();
    const auto number = parse_value(word);
    if (!number) return refuse(word.empty() ? "the value is missing" : "'" + printable(word) + "' is not a number");
    value = *number;
    return true;
  }
  bool take_labels(std::vector<std::pair<std::string, std::string>>& labels);

 private:
  std::string_view take(std::size_t n) {
    const std::string_view word = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return word;
  }
  bool refuse(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }
  static std::string printable(std::string_view word) { return std::string(word.substr(0, 40)); }
  bool take_quoted(std::string& value);

  std::string_view rest_;
  std::string reason_;
};

bool LineReader::take_quoted(std::string& value) {
  if (!take_char('"')) return refuse("a label value must be quoted");
  value.clear();
  while (!rest_.empty()) {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    if (c == '"') return true;
    if (c != '\\') {
      value += c;
      continue;
    }
    if (rest_.empty()) break;
    const char escaped = rest_.front();
    rest_.remove_prefix(1);
    if (escaped == 'n') {
      value += '\n';
    } else {
      if (escaped != '"' && escaped != '\\') value += '\\';  // unknown escapes stand for themselves
      value += escaped;
    }
  }
  return refuse("a label value does not end");
}

bool LineReader::take_labels(std::vector<std::pair<std::string, std::string>>& labels) {
  if (!take_char('{')) return true;
  while (true) {
    skip_blanks();
    if (take_char('}')) return true;
    std::string key;
    std::string value;
    if (!take_name(key)) return false;
    skip_blanks();
    if (!take_char('=')) return refuse("'=' was expected after label '" + key + "'");
    skip_blanks();
    if (!take_quoted(value)) return false;
    labels.emplace_back(std::move(key), std::move(value));
    skip_blanks();
    if (!take_char(',') && peek() != '}') return refuse("',' or '}' was expected among the labels");
  }
}

/// OpenMetrics' exemplar: "# {labels} value [timestamp]". Checked and dropped.
bool take_exemplar(LineReader& line) {
  std::vector<std::pair<std::string, std::string>> labels;
  double number = 0;
  line.skip_blanks();
  if (line.peek() != '{' || !line.take_labels(labels)) return false;
  line.skip_blanks();
  if (!line.take_number(number)) return false;
  line.skip_blanks();
  return line.at_end() || line.take_number(number);
}

Result<MetricSample> parse_sample(std::string_view text) {
  LineReader line(text);
  MetricSample sample;
  line.skip_blanks();
  if (!line.take_name(sample.name)) return fail(Errc::kParse, line.reason());
  line.skip_blanks();
  if (!line.take_labels(sample.labels)) return fail(Errc::kParse, line.reason());
  line.skip_blanks();
  if (!line.take_number(sample.value)) return fail(Errc::kParse, line.reason());
  line.skip_blanks();
  if (!line.at_end() && line.peek() != '#') {
    double timestamp = 0;
    if (!line.take_number(timestamp)) return fail(Errc::kParse, "after the value: " + line.reason());
    sample.timestamp = timestamp;
    line.skip_blanks();
  }
  if (line.take_char('#') && !take_exemplar(line)) return fail(Errc::kParse, "malformed exemplar " + line.reason());
  line.skip_blanks();
  if (!line.at_end()) return fail(Errc::kParse, "unexpected text at the end");
  return sample;
}

/// "# TYPE name kind" is noted, "# EOF" ends the page, everything else is a comment.
Status read_comment(std::string_view text, MetricsPage& page) {
  LineReader line(text.substr(1));
  line.skip_blanks();
  const std::string_view word = line.take_word();
  if (word == "EOF") page.eof_seen = true;
  if (word != "TYPE") return {};
  std::string name;
  line.skip_blanks();
  if (!line.take_name(name)) return fail(Errc::kParse, "TYPE without a name");
  line.skip_blanks();
  const std::string_view kind = line.take_word();
  if (kind.empty()) return fail(Errc::kParse, "TYPE of '" + name + "' without a type");
  page.types[name] = std::string(kind);
  return {};
}

Status at_line(Error error, int number) { return fail(Errc::kParse, fmt::format("line {}: {}", number, error.what)); }

Result<MetricsPage> parse_lines(std::string_view text) {
  MetricsPage page;
  int number = 0;
  for (std::string_view raw : split_lines(text)) {
    ++number;
    const std::string_view line = trim(raw);
    if (line.empty()) continue;
    if (page.eof_seen) return fail(Errc::kParse, fmt::format("line {}: text after # EOF", number));
    if (line.front() == '#') {
      if (auto status = read_comment(line, page); !status) BK_TRY(at_line(status.error(), number));
      continue;
    }
    auto sample = parse_sample(line);
    if (!sample) BK_TRY(at_line(sample.error(), number));
    sample->line = number;
    page.samples.push_back(std::move(*sample));
  }
  if (page.samples.empty()) return fail(Errc::kParse, "the metrics page holds no sample");
  return page;
}

}  // namespace

const std::string* MetricSample::label(std::string_view key) const {
  for (const auto& [name_of_label, text] : labels) {
    if (name_of_label == key) return &text;
  }
  return nullptr;
}

std::string MetricsPage::type_of(const std::string& sample_name) const {
  if (const auto it = types.find(sample_name); it != types.end()) return it->second;
  for (const std::string_view suffix : {"_total", "_created", "_bucket", "_count", "_sum"}) {
    if (sample_name.size() <= suffix.size() || !std::string_view(sample_name).ends_with(suffix)) continue;
    const auto it = types.find(sample_name.substr(0, sample_name.size() - suffix.size()));
    if (it == types.end()) continue;
    return suffix == "_created" ? "gauge" : it->second;
  }
  return {};
}

Result<MetricsPage> parse_metrics(std::string_view text) {
  const std::string_view body = trim(text);
  if (body.empty()) return fail(Errc::kParse, "the metrics page is empty");
  if (body.front() != '"') return parse_lines(text);
  auto quoted = parse_json(body);
  if (!quoted)
    return fail(Errc::kParse, "the metrics page begins as a JSON string and is none: " + quoted.error().what);
  return parse_lines(quoted->as_string().value_or(""));
}

}  // namespace bk::engine
