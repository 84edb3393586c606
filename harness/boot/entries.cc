#include "boot/entries.h"

#include <fmt/format.h>

#include <optional>

#include "base/text.h"

namespace bk::boot {
namespace {

constexpr std::size_t kLargestProfile = 1U << 20U;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(char c) { return is_upper(c) || is_digit(c) || c == '_'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }
/// After the first dot a key may hold a knob's value too (SPEC.flag.ngram).
bool is_attribute(char c) { return is_name(c) || (c >= 'a' && c <= 'z') || c == '.' || c == '-'; }

/// Reads one logical line: `at` walks over it.
class LineReader {
 public:
  LineReader(std::string_view line, const std::map<std::string, Entry>& earlier) : line_(line), earlier_(earlier) {}

  /// The reason why it is no assignment, or nothing.
  std::optional<std::string> read(Entry& entry) {
    if (auto reason = key(entry)) return reason;
    return value(entry);
  }

 private:
  [[nodiscard]] bool done() const { return at_ >= line_.size(); }

  std::optional<std::string> key(Entry& entry) {
    if (line_.substr(0, 7) == "export ") return "remove 'export': a profile holds plain KEY=VALUE lines";
    while (!done() && (is_name(line_[at_]) || (at_ > 0 && line_[at_] == '.'))) {
      if (line_[at_] == '.') break;
      ++at_;
    }
    if (!done() && line_[at_] == '.') {
      while (!done() && is_attribute(line_[at_])) ++at_;
    }
    entry.key = std::string(line_.substr(0, at_));
    if (entry.key.empty() || !is_upper(entry.key[0])) return "not KEY=VALUE: a key starts with a capital letter";
    if (entry.key.back() == '.' || entry.key.find("..") != std::string::npos)
      return "a key part is empty: " + entry.key;
    if (done()) return fmt::format("no '=' after {}", entry.key);
    if (is_blank(line_[at_])) return fmt::format("blank before '=': write {}=VALUE", entry.key);
    if (line_[at_] == '+')
      return fmt::format("'+=' is not understood: give {} whole, on one line or continued by \\", entry.key);
    if (line_[at_] != '=') return fmt::format("'{}' cannot stand in a key", line_[at_]);
    ++at_;
    if (!done() && is_blank(line_[at_]) && trim(line_.substr(at_)).substr(0, 1) != "#" &&
        !trim(line_.substr(at_)).empty()) {
      return fmt::format("blank after '=': write {}=VALUE, in quotes if it holds blanks", entry.key);
    }
    return {};
  }

  std::optional<std::string> value(Entry& entry) {
    while (!done() && !is_blank(line_[at_])) {
      const char c = line_[at_];
      std::optional<std::string> reason;
      if (c == '\'') {
        reason = single_quoted(entry);
      } else if (c == '"') {
        reason = double_quoted(entry);
      } else if (c == '$') {
        reason = variable(entry);
      } else if (std::string_view("`;&|<>()\\").find(c) != std::string_view::npos) {
        reason = fmt::format("'{}' needs single quotes: no shell reads a profile", c);
      } else {
        entry.value += c;
        ++at_;
      }
      if (reason) return reason;
    }
    const std::string_view rest = trim(line_.substr(at_));
    if (!rest.empty() && rest[0] != '#')
      return fmt::format("text after the value of {}: put a value with blanks in quotes", entry.key);
    return {};
  }

  std::optional<std::string> single_quoted(Entry& entry) {
    const std::size_t end = line_.find('\'', at_ + 1);
    if (end == std::string_view::npos) return "a single quote is not closed";
    entry.value += line_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return {};
  }

  std::optional<std::string> double_quoted(Entry& entry) {
    ++at_;
    while (!done() && line_[at_] != '"') {
      if (line_[at_] == '`') return "'`' in double quotes: no command is executed; use single quotes";
      if (line_[at_] == '$') {
        if (auto reason = variable(entry)) return reason;
        continue;
      }
      const char next = at_ + 1 < line_.size() ? line_[at_ + 1] : '\0';
      if (line_[at_] == '\\' && (next == '"' || next == '\\' || next == '$' || next == '`')) ++at_;
      entry.value += line_[at_++];
    }
    if (done()) return "a double quote is not closed";
    ++at_;
    return {};
  }

  std::optional<std::string> variable(Entry& entry) {
    const std::string_view rest = line_.substr(at_);
    if (rest.substr(0, 2) == "$(") return "'$(': no command is executed in a profile";
    if (rest.substr(0, 2) != "${") return "'$' must start ${NAME}, or stand in single quotes";
    const std::size_t end = rest.find('}');
    if (end == std::string_view::npos) return "'${' is not closed";
    const std::string name(rest.substr(2, end - 2));
    bool plain = !name.empty() && is_upper(name[0]);
    for (const char c : name) plain = plain && is_name(c);
    if (!plain) return fmt::format("${{{}}} is not understood: only ${{NAME}} of an earlier key", name);
    const auto found = earlier_.find(name);
    if (found == earlier_.end()) {
      return fmt::format("${{{}}} is set by no earlier line (the environment is not seen here)", name);
    }
    entry.value += found->second.value;
    entry.uses.push_back(name);
    at_ += end + 1;
    return {};
  }

  std::string_view line_;
  const std::map<std::string, Entry>& earlier_;
  std::size_t at_ = 0;
};

struct LogicalLine {
  std::string text;
  int line = 0;
};

/// Physical lines, those that end in a backslash joined with the next.
std::vector<LogicalLine> logical_lines(std::string_view text) {
  std::vector<LogicalLine> lines;
  int row = 0;
  bool continues = false;
  for (std::string_view piece : split_lines(text)) {
    ++row;
    const bool comment = !continues && trim(piece).substr(0, 1) == "#";
    if (!continues) lines.push_back({"", row});
    continues = !comment && !piece.empty() && piece.back() == '\\';
    if (continues) piece.remove_suffix(1);
    lines.back().text += piece;
  }
  return lines;
}

Status check_bytes(std::string_view text, const std::string& path) {
  if (text.size() > kLargestProfile) return fail(Errc::kUsage, "a profile is at most 1 MiB", path);
  if (!is_utf8(text)) return fail(Errc::kUsage, "not UTF-8 text", path);
  int row = 1;
  for (const char c : text) {
    if (c == '\r') return fail(Errc::kUsage, "carriage return: save the file with LF line ends", place(path, row));
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t' && c != '\n') || byte == 0x7f) {
      return fail(Errc::kUsage, fmt::format("control character 0x{:02x}", byte), place(path, row));
    }
    row += c == '\n' ? 1 : 0;
  }
  if (text.substr(0, 3) == "\xEF\xBB\xBF")
    return fail(Errc::kUsage, "byte order mark: save without it", place(path, 1));
  return {};
}

}  // namespace

std::string place(const std::string& path, int line) { return fmt::format("{}:{}", path, line); }

Result<std::vector<Entry>> read_entries(std::string_view text, const std::string& path) {
  BK_TRY(check_bytes(text, path));
  std::vector<Entry> entries;
  std::map<std::string, Entry> earlier;
  for (const LogicalLine& logical : logical_lines(text)) {
    const std::string_view line = trim(logical.text);
    if (line.empty() || line[0] == '#') continue;
    Entry entry;
    entry.line = logical.line;
    if (auto reason = LineReader(line, earlier).read(entry))
      return fail(Errc::kUsage, *reason, place(path, entry.line));
    if (const auto [first, fresh] = earlier.emplace(entry.key, entry); !fresh) {
      return fail(Errc::kUsage,
                  fmt::format("{} is set twice: rows {} and {}", entry.key, first->second.line, entry.line),
                  place(path, entry.line));
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace bk::boot
