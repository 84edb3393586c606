#include "ledger/travel_json.h"

#include <limits>

#include "store/event_codec.h"

namespace bk::ledger {
namespace {

using store::Cell;
using store::TravelRow;

constexpr const char* kEvents = "events";

Result<Json> events_json(const std::string& blob) {
  BK_ASSIGN(const auto events, store::decode_events(blob));
  Json list = Json::array();
  for (const store::EventRow& event : events) list.push(Json::array().push(event.at).push(int{event.tokens}));
  return list;
}

Result<Json> cell_json(const Cell& cell) {
  if (const auto* i = std::get_if<std::int64_t>(&cell)) return Json(*i);
  if (const auto* d = std::get_if<double>(&cell)) return Json(*d);
  if (const auto* s = std::get_if<std::string>(&cell)) return Json(*s);
  if (const auto* b = std::get_if<store::Blob>(&cell)) return events_json(b->bytes);
  return Json();
}

Status put_columns(const TravelRow& row, Json& out) {
  for (const auto& [name, cell] : row.columns) {
    BK_ASSIGN(Json value, cell_json(cell));
    out.set(name, std::move(value));
  }
  return {};
}

Result<Cell> events_cell(const Json& list) {
  std::vector<store::EventRow> events;
  for (const Json& item : list.items()) {
    const auto at = item.items().size() == 2 ? item.items()[0].as_int() : std::nullopt;
    const auto tokens = at ? item.items()[1].as_int() : std::nullopt;
    if (!tokens || *tokens < -1 || *tokens > std::numeric_limits<std::int32_t>::max()) {
      return fail(Errc::kParse, "'events' has to be a list of [nanoseconds, tokens]");
    }
    events.push_back({*at, static_cast<std::int32_t>(*tokens)});
  }
  BK_ASSIGN(std::string bytes, store::encode_events(events));
  return Cell(store::Blob{std::move(bytes)});
}

Result<Cell> cell_of(const std::string& name, const Json& value) {
  if (value.is_null()) return Cell();
  if (const auto whole = value.as_int()) return Cell(*whole);
  if (const auto real = value.as_double()) return Cell(*real);
  if (auto text = value.as_string()) return Cell(std::move(*text));
  return fail(Errc::kParse, "'" + name + "' is neither a number nor a text");
}

Result<TravelRow> row_of(const Json::Object& members, const std::string& table) {
  TravelRow row;
  row.table = table;
  for (const auto& [name, value] : members) {
    if (name == "table") continue;
    if (!value.is_array()) {
      BK_ASSIGN(Cell cell, cell_of(name, value));
      row.columns.emplace_back(name, std::move(cell));
    } else if (name == kEvents) {
      BK_ASSIGN(Cell cell, events_cell(value));
      row.columns.emplace_back(name, std::move(cell));
    } else {
      for (const Json& part : value.items()) {
        if (!part.is_object()) return fail(Errc::kParse, "'" + name + "' has to be a list of objects");
        BK_ASSIGN(TravelRow child, row_of(part.members(), name));
        row.parts.push_back(std::move(child));
      }
    }
  }
  return row;
}

}  // namespace

Result<Json> to_json(const TravelRow& row) {
  Json out = Json::object();
  out.set("table", row.table);
  BK_TRY(put_columns(row, out));
  for (std::size_t i = 0; i < row.parts.size();) {
    const std::string& table = row.parts[i].table;
    Json list = Json::array();
    for (; i < row.parts.size() && row.parts[i].table == table; ++i) {
      Json part = Json::object();
      BK_TRY(put_columns(row.parts[i], part));
      list.push(std::move(part));
    }
    out.set(table, std::move(list));
  }
  return out;
}

Result<TravelRow> travel_row(std::string_view line) {
  BK_ASSIGN(const Json json, parse_json(line));
  const auto table = json["table"].as_string();
  if (!table) return fail(Errc::kParse, "not a row of a ledger: no 'table'");
  return row_of(json.members(), *table);
}

}  // namespace bk::ledger
