#pragma once
#include <cstddef>

namespace bk::store {

/// One file of schema/, built into the program. Generated from them by CMake, in order.
struct Migration {
  int version;
  const char* sql;
};
extern const Migration kMigrations[];
extern const std::size_t kMigrationCount;

}  // namespace bk::store
