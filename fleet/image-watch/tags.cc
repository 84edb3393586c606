#include "tags.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "base/text.h"

namespace bk::image_watch {
namespace {

constexpr std::size_t kTimeLength = 19;

/// A field of a line of text: it must not break the line, nor a terminal.
bool is_plain(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string digest_of(const Json& row) {
  if (const auto digest = row["digest"].as_string(); digest && !digest->empty()) return *digest;
  for (const Json& image : row["images"].items()) {
    if (const auto digest = image["digest"].as_string()) return *digest;
  }
  return {};
}

Status take_row(const Json& row, Tags& tags) {
  const std::string name = row["name"].as_string().value_or("");
  const Tag tag{digest_of(row), row["last_updated"].as_string().value_or("").substr(0, kTimeLength)};
  if (!is_plain(name)) return fail(Errc::kParse, "a tag of the registry's list has no usable name");
  if (!is_plain(tag.digest) || (!tag.updated.empty() && !is_plain(tag.updated)))
    return fail(Errc::kParse, fmt::format("tag {} has no usable digest or time", name));
  tags[name] = tag;
  return {};
}

}  // namespace

Result<Page> parse_page(std::string_view body) {
  const auto json = parse_json(body);
  if (!json) return fail(json.error().with("the registry's answer"));
  const Json* results = json->find("results");
  if (results == nullptr || !results->is_array())
    return fail(Errc::kParse, "the registry's answer has no list named results");
  Page page;
  for (const Json& row : results->items()) BK_TRY(take_row(row, page.tags));
  page.next = (*json)["next"].as_string().value_or("");
  return page;
}

std::string state_text(const Tags& tags) {
  std::string text;
  for (const auto& [name, tag] : tags) text += fmt::format("{}\t{}\t{}\n", name, tag.digest, tag.updated);
  return text;
}

Result<Tags> parse_state(std::string_view text, const std::string& path) {
  Tags tags;
  int row = 0;
  for (const std::string_view line : split_lines(text)) {
    ++row;
    const auto fields = split(line, '\t');
    if (fields.size() != 3 || !is_plain(fields[0]) || !is_plain(fields[1]) ||
        !tags.emplace(fields[0], Tag{std::string(fields[1]), std::string(fields[2])}).second) {
      return fail(Errc::kParse,
                  "not tag, digest and time with tabs between, each tag once; remove the file to start anew",
                  fmt::format("{}:{}", path, row));
    }
  }
  // A registry that lists nothing is an error and never kept; against nothing every tag would be new.
  if (tags.empty()) return fail(Errc::kParse, "it holds no tag; remove the file to start anew", path);
  return tags;
}

std::vector<std::string> changes(const Tags& before, const Tags& after) {
  std::map<std::string, std::string> lines;
  for (const auto& [name, tag] : after) {
    const auto old = before.find(name);
    if (old == before.end()) {
      lines[name] = fmt::format("NEW TAG {} {} {}", name, tag.digest, tag.updated);
    } else if (old->second.digest != tag.digest) {
      lines[name] = fmt::format("REPUSHED {} {} -> {} {}", name, old->second.digest, tag.digest, tag.updated);
    }
  }
  for (const auto& [name, tag] : before) {
    if (!after.contains(name)) lines[name] = fmt::format("REMOVED {} {}", name, tag.digest);
  }
  std::vector<std::string> sorted;
  sorted.reserve(lines.size());
  for (auto& [name, line] : lines) sorted.push_back(std::move(line));
  return sorted;
}

}  // namespace bk::image_watch
