#include "load/content.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"

namespace bk::load {

std::string ContentSet::hash() const {
  Sha256 sha;
  sha.update(fmt::format("{}\n{}\n", name, version));
  for (const ContentPrompt& prompt : prompts) {
    sha.update(prompt.long_answer ? "long\n" : "short\n");
    sha.update(prompt.text);
    sha.update("\n");
  }
  return sha.hex();
}

std::string ContentSet::prompt(bool long_answer, std::uint64_t n, std::uint64_t seed) const {
  std::vector<std::string_view> texts;
  for (const ContentPrompt& one : prompts) {
    if (one.long_answer == long_answer) texts.push_back(one.text);
  }
  if (texts.empty()) return {};
  return fmt::format("[ref {}] {}", seed, texts[n % texts.size()]);
}

const ContentSet* find_content(std::string_view name) {
  const auto& sets = content_sets();
  const auto it = std::find_if(sets.begin(), sets.end(), [name](const ContentSet& set) { return set.name == name; });
  return it == sets.end() ? nullptr : &*it;
}

namespace {

Result<ContentShare> parse_share(std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view name = trim(word.substr(0, equals));
  ContentShare share{find_content(name), 1};
  if (share.set == nullptr) {
    std::vector<std::string> names;
    for (const ContentSet& set : content_sets()) names.emplace_back(set.name);
    const auto near = nearest(name, names);
    return fail(Errc::kUsage,
                near ? fmt::format("there is no content set '{}'; did you mean {}?", name, *near)
                     : fmt::format("there is no content set '{}'; one of {}", name, join(names, ", ")),
                "--content");
  }
  if (equals == std::string_view::npos) return share;
  const auto weight = parse_double(trim(word.substr(equals + 1)));
  if (!weight || *weight <= 0) {
    return fail(Errc::kUsage, fmt::format("the weight of {} must be a positive number", name), "--content");
  }
  share.weight = *weight;
  return share;
}

}  // namespace

Result<std::vector<ContentShare>> parse_content(std::string_view text) {
  std::vector<ContentShare> shares;
  if (trim(text) == "all") {
    for (const ContentSet& set : content_sets()) shares.push_back({&set, 1});
    return shares;
  }
  for (const std::string_view word : split(text, ',')) {
    BK_ASSIGN(const ContentShare share, parse_share(word));
    if (std::any_of(shares.begin(), shares.end(), [&](const ContentShare& s) { return s.set == share.set; })) {
      return fail(Errc::kUsage, fmt::format("content set '{}' is named twice", share.set->name), "--content");
    }
    shares.push_back(share);
  }
  return shares;
}

}  // namespace bk::load
