#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace bk::image_watch {

/// One tag of an image, as the registry lists it.
struct Tag {
  std::string digest;   ///< "sha256:…"
  std::string updated;  ///< "2026-08-12T03:04:05", the first 19 characters; may be empty
};
using Tags = std::map<std::string, Tag>;  ///< by name

/// One page of a registry's list: {"results": [{"name", "digest", "last_updated"}], "next": URL or null}. A tag whose
/// digest stands with its images alone takes that of the first. kParse for anything else.
struct Page {
  Tags tags;
  std::string next;  ///< empty: the last page
};
[[nodiscard]] Result<Page> parse_page(std::string_view body);

/// The state file: one line a tag, tag, digest and time with tabs between, sorted by tag.
[[nodiscard]] std::string state_text(const Tags& tags);
/// kParse naming the line.
[[nodiscard]] Result<Tags> parse_state(std::string_view text, const std::string& path);

/// "NEW TAG x digest time", "REPUSHED x old -> new time", "REMOVED x digest": one a changed tag, sorted by tag. A
/// change of the time alone is none.
[[nodiscard]] std::vector<std::string> changes(const Tags& before, const Tags& after);

}  // namespace bk::image_watch
