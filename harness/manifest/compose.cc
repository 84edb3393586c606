#include "manifest/compose.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/sha256.h"
#include "manifest/claims.h"
#include "manifest/path.h"

namespace bk::manifest {
namespace {

constexpr const char* kManifest = "manifest.tsv";
constexpr const char* kRequires = "requires";

/// A file of a module's folder, by its bare name.
Result<std::string> read_module_file(const Module& module, const std::string& name) {
  BK_ASSIGN(const Node node, module.files->look(name));
  switch (node.kind) {
    case NodeKind::kFile:
      return module.files->read(name);
    case NodeKind::kAbsent:
      return fail(Errc::kUsage, fmt::format("{} is missing in {}", name, module.files->name()));
    case NodeKind::kSymlink:
      return fail(Errc::kUsage, name + " is a symbolic link: put the file itself there");
    default:
      return fail(Errc::kUsage, name + " is no regular file");
  }
}

std::string manifest_place(const Module& module) { return module.name + "/" + kManifest; }

class Composer {
 public:
  Composer(std::string profile, std::string root, const std::vector<Module>& modules) : modules_(modules) {
    out_.profile = std::move(profile);
    out_.root = std::move(root);
  }

  Result<Composition> compose() {
    if (const auto fault = root_fault(out_.root)) {
      return fail(Errc::kUsage, fmt::format("package root '{}': {}", printable(out_.root), *fault), out_.profile);
    }
    BK_TRY(check_names());
    BK_TRY(read_requires());
    Claims claims([this](const std::string& owner, const std::string& other) {
      return requires_.contains(owner) && requires_.at(owner).contains(other);
    });
    for (const Module& module : modules_) BK_TRY(add(module, claims));
    if (out_.rows.empty()) return fail(Errc::kUsage, "no module, so nothing to compose: set MODULES", out_.profile);
    return std::move(out_);
  }

 private:
  Status check_names() {
    std::set<std::string> seen;
    for (const Module& module : modules_) {
      if (const auto fault = module_name_fault(module.name)) {
        return fail(Errc::kUsage, fmt::format("module name '{}': {}", printable(module.name), *fault), out_.profile);
      }
      if (!seen.insert(module.name).second) {
        return fail(Errc::kUsage, fmt::format("module {} is named twice in MODULES", module.name), out_.profile);
      }
      out_.modules.push_back(module.name);
    }
    return {};
  }

  Status read_requires() {
    for (const Module& module : modules_) {
      BK_ASSIGN(const Node node, module.files->look(kRequires));
      if (node.kind == NodeKind::kAbsent) continue;
      const std::string place = module.name + "/" + kRequires;
      auto text = read_module_file(module, kRequires);
      if (!text) return fail(text.error().code, text.error().what, place);
      BK_ASSIGN(const auto names, parse_requires(*text, place));
      for (const std::string& name : names) {
        const bool met = std::find(out_.modules.begin(), out_.modules.end(), name) != out_.modules.end();
        if (!met || name == module.name) {
          return fail(Errc::kUsage,
                      fmt::format("module {} requires {}, which {}", module.name, name,
                                  met ? "is itself" : "is not in MODULES of " + out_.profile),
                      place);
        }
        requires_[module.name].insert(name);
      }
    }
    return {};
  }

  Status add(const Module& module, Claims& claims) {
    const std::string place = manifest_place(module);
    auto text = read_module_file(module, kManifest);
    if (!text) return fail(text.error().code, text.error().what, place);
    BK_ASSIGN(const auto rows, parse_manifest(*text, place, out_.root));
    for (const Row& row : rows) {
      const std::string at = fmt::format("{}:{}", place, row.line);
      if (const auto claimed = claims.add(module.name, row); !claimed) {
        return fail(claimed.error().code, claimed.error().what, at);
      }
      if (row.mounts()) {
        auto bytes = read_module_file(module, row.source);
        if (!bytes) return fail(bytes.error().code, "source " + bytes.error().what, at);
        std::string hash = sha256_hex(*bytes);
        if (hash == row.preimage) {
          return fail(Errc::kUsage,
                      fmt::format("source {} is the file that it replaces: it changes nothing", row.source), at);
        }
        out_.files.push_back({row.source, row.target, std::move(*bytes), std::move(hash)});
      }
      out_.rows.push_back({module.name, row});
    }
    return {};
  }

  const std::vector<Module>& modules_;
  std::map<std::string, std::set<std::string>> requires_;
  Composition out_;
};

}  // namespace

std::string Composition::manifest_text() const {
  std::string text = fmt::format("# profile {}: source, target, SHA-256 of the file it replaces or absent\n", profile);
  std::string module;
  for (const OwnedRow& owned : rows) {
    if (owned.module != module) text += fmt::format("# module {}\n", owned.module);
    module = owned.module;
    const Row& row = owned.row;
    text += fmt::format("{}\t{}{}{}\t{}\n", row.mounts() ? row.source : "-", root, root.empty() ? "" : "/", row.target,
                        row.preimage.empty() ? "absent" : row.preimage);
  }
  return text;
}

std::string Composition::hash_list() const {
  std::string text = fmt::format("{}  {}\n", sha256_hex(manifest_text()), kManifest);
  for (const ComposedFile& file : files) text += fmt::format("{}  {}\n", file.sha256, file.name);
  return text;
}

std::string Composition::digest() const {
  std::string text;
  for (const OwnedRow& owned : rows) {
    text += fmt::format("{} {} {}\n", owned.module, owned.row.target, owned.row.preimage);
  }
  for (const ComposedFile& file : files) text += fmt::format("{} {}\n", file.target, file.sha256);
  return sha256_hex(text);
}

Result<Composition> compose(const std::string& profile, const std::string& root, const std::vector<Module>& modules) {
  return Composer(profile, root, modules).compose();
}

}  // namespace bk::manifest
