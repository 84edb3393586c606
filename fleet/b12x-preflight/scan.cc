#include "scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "base/file.h"

namespace bk::b12x {
namespace {

namespace fs = std::filesystem;

constexpr int kLevels = 3;

/// The header of a safetensors file, without the tensors behind it.
Result<Json> read_header(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) return fail(Errc::kIo, "cannot be read", path.string());
  std::string head(8, '\0');
  file.read(head.data(), 8);
  head.resize(static_cast<std::size_t>(file.gcount()));
  std::uint64_t length = 0;
  for (std::size_t i = head.size(); i-- > 0;) length = length << 8U | static_cast<unsigned char>(head[i]);
  if (head.size() == 8 && length <= 100'000'000 && length <= size) {
    head.resize(8 + length);
    file.read(head.data() + 8, static_cast<std::streamsize>(length));
    head.resize(8 + static_cast<std::size_t>(file.gcount()));
  }
  auto json = parse_safetensors_header(head, size);
  if (!json) return fail(json.error().code, json.error().what, path.filename().string());
  return json;
}

std::vector<fs::path> tensor_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".safetensors") files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Every file's header is compared: a folder may mix shards of two conversions.
Result<Seen> compare_headers(const Shape& shape, const fs::path& folder) {
  Seen seen;
  for (const fs::path& file : tensor_files(folder)) {
    BK_ASSIGN(const Json header, read_header(file));
    if (const auto same = compare_header(shape, header, seen); !same)
      return fail(same.error().code, same.error().what, file.filename().string());
  }
  if (seen.highest_expert >= 0 && seen.highest_expert + 1 != shape.experts) {
    return fail(Errc::kMismatch, fmt::format("config.json says {} {}, but the tensors are of experts 0 to {}",
                                             shape.experts_key, shape.experts, seen.highest_expert));
  }
  return seen;
}

void read_shape(const fs::path& folder, Model& model) {
  const auto read = [&]() -> Result<Shape> {
    BK_ASSIGN(const std::string text, read_file(folder / "config.json"));
    auto config = parse_json(text);
    if (!config) return fail(config.error().with("config.json"));
    BK_ASSIGN(Shape shape, shape_of(*config));
    BK_ASSIGN(model.seen, compare_headers(shape, folder));
    return shape;
  };
  model.shape = read();
}

void collect(const fs::path& folder, const std::string& name, int levels, std::vector<Model>& models) {
  std::error_code error;
  if (fs::is_regular_file(folder / "config.json", error)) {
    models.emplace_back();
    models.back().name = name;
    read_shape(folder, models.back());
  }
  if (levels == 0) return;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->is_directory(error)) continue;
    const std::string child = it->path().filename().string();
    const std::string below = name == "." ? child : fmt::format("{}/{}", name, child);
    collect(it->path(), below, levels - 1, models);
  }
}

}  // namespace

Result<std::vector<Model>> scan(const fs::path& root) {
  std::error_code error;
  if (!fs::is_directory(root, error)) return fail(Errc::kIo, "no such folder", root.string());
  std::vector<Model> models;
  collect(root, ".", kLevels, models);
  std::sort(models.begin(), models.end(), [](const Model& a, const Model& b) { return a.name < b.name; });
  return models;
}

}  // namespace bk::b12x
