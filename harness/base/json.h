#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace bk {

/// A JSON value. Objects keep the order in which members were added. Numbers that are not finite become null.
/// Reading is for documents (models, configurations, JSON lines); the per-event hot path in stream/ has its own reader.
class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;
  Json(std::nullptr_t) {}                                                // NOLINT(google-explicit-constructor)
  Json(bool value) : value_(value) {}                                    // NOLINT(google-explicit-constructor)
  Json(int value) : value_(std::int64_t{value}) {}                       // NOLINT(google-explicit-constructor)
  Json(std::int64_t value) : value_(value) {}                            // NOLINT(google-explicit-constructor)
  Json(std::size_t value) : value_(static_cast<std::int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  Json(double value);                                                    // NOLINT(google-explicit-constructor)
  Json(std::string value) : value_(std::move(value)) {}                  // NOLINT(google-explicit-constructor)
  Json(std::string_view value) : value_(std::string(value)) {}           // NOLINT(google-explicit-constructor)
  Json(const char* value) : value_(std::string(value)) {}                // NOLINT(google-explicit-constructor)
  template <class T>
  Json(const std::optional<T>& value) {  // NOLINT(google-explicit-constructor)
    if (value) *this = Json(*value);
  }
  template <class T>
  Json(const std::vector<T>& values)
      : value_(Array(values.begin(), values.end())) {}  // NOLINT(google-explicit-constructor)

  static Json array() { return Json(Array{}, 0); }
  static Json object() { return Json(Object{}, 0); }

  [[nodiscard]] bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  [[nodiscard]] bool is_object() const { return std::holds_alternative<Object>(value_); }
  [[nodiscard]] bool is_array() const { return std::holds_alternative<Array>(value_); }

  [[nodiscard]] std::optional<bool> as_bool() const;
  [[nodiscard]] std::optional<std::int64_t> as_int() const;  ///< whole numbers only
  [[nodiscard]] std::optional<double> as_double() const;     ///< any number
  [[nodiscard]] std::optional<std::string> as_string() const;
  [[nodiscard]] const Array& items() const;                    ///< empty unless an array
  [[nodiscard]] const Object& members() const;                 ///< empty unless an object
  [[nodiscard]] const Json* find(std::string_view key) const;  ///< nullptr when absent or not an object
  /// The member, or a null value: `doc["usage"]["prompt_tokens"].as_int()` never fails.
  [[nodiscard]] const Json& operator[](std::string_view key) const;

  /// Sets (or replaces) a member; a null value turns into an object first. Returns *this for chaining.
  Json& set(std::string_view key, Json value);
  Json& push(Json value);  ///< a null value turns into an array first

  /// Text; indent < 0 gives one line. Bytes that are not UTF-8 are written as U+FFFD.
  [[nodiscard]] std::string dump(int indent = -1) const;

 private:
  Json(Array value, int) : value_(std::move(value)) {}
  Json(Object value, int) : value_(std::move(value)) {}
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
};

/// A whole JSON document. kParse with the reason otherwise. Numbers beyond int64 are read as double.
[[nodiscard]] Result<Json> parse_json(std::string_view text);

}  // namespace bk
