#pragma once
#include <string>
#include <vector>

#include "base/json.h"
#include "manifest/compose.h"
#include "manifest/tree.h"

namespace bk::manifest {

/// Why a row does not fit the package that it is meant for.
enum class Mismatch {
  kDiffers,     ///< the file's SHA-256 is not the pinned one
  kMissing,     ///< pinned, but there is no file
  kPresent,     ///< "absent", but something is there
  kNotRegular,  ///< a symbolic link, a folder, a device
  kNotAFolder,  ///< a parent of the target is a symbolic link or a file
};
[[nodiscard]] const char* to_string(Mismatch reason);

struct Problem {
  std::string module;
  int line = 0;  ///< row of the module's manifest
  std::string target;
  Mismatch reason = Mismatch::kDiffers;
  std::string text;  ///< one line: what is wrong, and a hint when line ends alone explain it
};

/// Compares every row with the package as it was installed. Empty: all fit. kIo when the tree cannot be read.
[[nodiscard]] Result<std::vector<Problem>> verify(const std::vector<OwnedRow>& rows, const Tree& package);

/// The problems as one error: the first in words, the number of the others. Ok when there are none. kMismatch.
[[nodiscard]] Status as_status(const std::vector<Problem>& problems, const Tree& package);

}  // namespace bk::manifest
