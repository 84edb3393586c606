#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "manifest/compose.h"
#include "manifest/path.h"

namespace {

using namespace bk;

void must_be_one_line(const Error& error) {
  if (error.what.empty() || error.text().find('\n') != std::string::npos) std::abort();
}

}  // namespace

/// Any bytes give rows that stay below the root, or one line of error; what composes reads back to the same rows.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto rows = manifest::parse_manifest(text, "m.tsv", "/opt/x");
  if (!rows) {
    must_be_one_line(rows.error());
    if (const auto names = manifest::parse_requires(text, "requires"); !names) must_be_one_line(names.error());
    return 0;
  }
  manifest::MemoryTree module("module");
  module.add_file("manifest.tsv", std::string(text));
  for (const manifest::Row& row : *rows) {
    if (manifest::path_fault(row.target)) std::abort();
    if (row.mounts()) module.add_file(row.source, "x");
  }
  const auto composed = manifest::compose("p", "/opt/x", {{"m", &module}});
  if (!composed) {
    must_be_one_line(composed.error());
    return 0;
  }
  const auto again = manifest::parse_manifest(composed->manifest_text(), "m.tsv", "/opt/x");
  if (!again || again->size() != rows->size()) std::abort();
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if ((*again)[i].target != (*rows)[i].target || (*again)[i].preimage != (*rows)[i].preimage) std::abort();
  }
  return 0;
}
