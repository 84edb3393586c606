#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace bk::store {

/// A column that names a row of another table.
struct Reference {
  std::string column;  ///< "host_id"
  std::string table;   ///< "host"
  std::string key;     ///< what names that row everywhere: "fingerprint", else "uid"
  bool rare = {};      ///< left out where it names nothing, so that rows from before it stay as they were written
};

/// Rows without a uid, by their parent.
struct PartTable {
  std::string name, parent_column, order;
  std::vector<std::string> columns;  ///< without the parent's
  bool is_traffic = false;           ///< texts and token times of requests
};

/// How a table travels between databases.
struct TravelTable {
  std::string name, key;
  std::vector<std::string> columns;  ///< all but id, in order; the key among them
  std::vector<Reference> references;
  std::string of_bracket;  ///< condition: belongs to bracket ?1 (alias t)
  std::string order;
  bool grows = false;  ///< a row may end after it was first exported
  std::vector<PartTable> parts;
};

/// In an order in which every table follows those that it names.
[[nodiscard]] const std::vector<TravelTable>& travel_tables();
/// nullptr when there is none.
[[nodiscard]] const TravelTable* travel_table(std::string_view name);
[[nodiscard]] const Reference* reference_of(const TravelTable& table, std::string_view column);
/// "host" of "host_id": how a reference is called while it travels.
[[nodiscard]] std::string travel_name(const TravelTable& table, const std::string& column);

}  // namespace bk::store
