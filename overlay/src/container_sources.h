#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "boot/profile.h"

namespace bk::overlay {

/// argv that runs the look for files of these names in a running container, by one interpreter of it. It reads below
/// usual places of sources and where that interpreter has its packages, and changes nothing. Source: stkernel-facts,
/// section 2.4.
[[nodiscard]] std::vector<std::string> look_argv(boot::Runtime cli, const std::string& container,
                                                 const std::string& interpreter, const std::set<std::string>& names);

/// What a look printed: path -> bytes. kParse when a line is none of its kind. Pure.
[[nodiscard]] Result<std::map<std::string, std::string>> read_look(const std::string& out);

/// The files of these names in a running container, by path: what its interpreters find, put together. kEnvironment
/// when the container does not run or has none of the interpreters.
[[nodiscard]] Result<std::map<std::string, std::string>> container_sources(boot::Runtime cli,
                                                                           const std::string& container,
                                                                           const std::set<std::string>& names);

}  // namespace bk::overlay
