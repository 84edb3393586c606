#include "tree.h"

#include <algorithm>
#include <regex>

#include "base/check.h"
#include "base/file.h"
#include "base/text.h"

namespace bk::meta {
namespace fs = std::filesystem;
namespace {

const fs::path kRoot = BK_SOURCE_DIR;

bool is_output(const fs::path& path) {
  const std::string name = path.filename().string();
  return name == "build" || name == "demo" || name == "__pycache__" || name == ".git" || name == ".cross" ||
         name == ".engines" || name == ".cache";
}

}  // namespace

std::vector<std::string> SourceFile::lines() const {
  std::vector<std::string> out;
  for (const std::string_view line : split_lines(text)) out.emplace_back(line);
  return out;
}

std::vector<std::string> SourceFile::includes() const {
  std::vector<std::string> out;
  for (const std::string_view line : split_lines(text)) {
    if (line.rfind("#include ", 0) != 0) continue;
    const std::string_view name = trim(line.substr(9));
    if (name.size() > 2 && name.front() == '"') out.emplace_back(name.substr(1, name.find('"', 1) - 1));
    if (name.size() > 2 && name.front() == '<') out.emplace_back(name.substr(0, name.find('>') + 1));
  }
  return out;
}

bool starts_with(const std::string& text, const std::string& start) { return text.rfind(start, 0) == 0; }

SourceFile load(const std::string& path) {
  auto text = read_file(kRoot / path);
  BK_CHECK(text);
  return {path, std::move(*text)};
}

std::vector<SourceFile> files_with(const std::set<std::string>& extensions) {
  std::vector<SourceFile> files;
  for (auto it = fs::recursive_directory_iterator(kRoot); it != fs::recursive_directory_iterator(); ++it) {
    if (it->is_directory() && is_output(it->path())) it.disable_recursion_pending();
    if (!it->is_regular_file() || extensions.count(it->path().extension().string()) == 0) continue;
    files.push_back(load(fs::relative(it->path(), kRoot).generic_string()));
  }
  std::sort(files.begin(), files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

std::map<std::string, std::set<std::string>> layers() {
  std::map<std::string, std::set<std::string>> direct;
  for (const std::string& line : load("LAYERS.txt").lines()) {
    const auto colon = line.find(':');
    if (line.empty() || line.front() == '#' || colon == std::string::npos) continue;
    auto& allowed = direct[line.substr(0, colon)];
    for (const std::string_view name : split(std::string_view(line).substr(colon + 1), ' ')) {
      if (!name.empty()) allowed.insert(std::string(name));
    }
  }
  std::map<std::string, std::set<std::string>> closed;
  for (const auto& [folder, names] : direct) {
    std::vector<std::string> todo = {folder};
    auto& seen = closed[folder];
    while (!todo.empty()) {
      const std::string current = todo.back();
      todo.pop_back();
      if (!seen.insert(current).second) continue;
      for (const std::string& next : direct[current]) todo.push_back(next);
    }
  }
  return closed;
}

std::string layer_of(const std::string& path) {
  const auto parts = split(path, '/');
  if (parts.size() < 2) return {};
  if (parts[0] == "harness") return parts.size() > 2 ? std::string(parts[1]) : std::string();
  for (const char* top : {"bench", "sim", "overlay", "fleet", "kernels"}) {
    if (parts[0] == top) return top;
  }
  return {};
}

std::map<std::string, std::string> programs() {
  std::map<std::string, std::string> found;
  const std::regex declaration(R"(bk_program\(\s*([A-Za-z0-9_-]+))");
  for (const SourceFile& file : files_with({".txt"})) {
    if (fs::path(file.path).filename() != "CMakeLists.txt") continue;
    for (std::sregex_iterator it(file.text.begin(), file.text.end(), declaration), end; it != end; ++it) {
      found[(*it)[1]] = fs::path(file.path).parent_path().generic_string();
    }
  }
  return found;
}

}  // namespace bk::meta
