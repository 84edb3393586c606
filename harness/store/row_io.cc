#include "store/row_io.h"

namespace bk::store {

void RowWriter::operator()(const char* name, const std::vector<EventRow>& events) {
  put("event_count", static_cast<std::int64_t>(events.size()));
  if (events.empty()) {
    put(name, Cell());
    return;
  }
  auto blob = encode_events(events);
  if (blob) {
    put(name, Blob{std::move(*blob)});
  } else {
    status_ = fail(blob.error());
  }
}

void RowReader::operator()(const char*, std::vector<EventRow>& events) {
  const std::int64_t count = take_integer().value_or(0);
  const Cell cell = rows_.cell(next_++);
  events.clear();
  const auto* blob = std::get_if<Blob>(&cell);
  if (blob == nullptr) return;
  auto decoded = decode_events(blob->bytes);
  if (!decoded) {
    status_ = fail(decoded.error());
  } else if (static_cast<std::int64_t>(decoded->size()) != count) {
    status_ = fail(Errc::kParse, "a request's events are damaged: their number is not event_count");
  } else {
    events = std::move(*decoded);
  }
}

std::string RowReader::take_text() {
  Cell cell = rows_.cell(next_++);
  auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? std::string() : std::move(*text);
}

std::optional<std::int64_t> RowReader::take_integer() {
  const Cell cell = rows_.cell(next_++);
  const auto* value = std::get_if<std::int64_t>(&cell);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<double> RowReader::take_real() {
  const Cell cell = rows_.cell(next_++);
  const auto* value = std::get_if<double>(&cell);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

Result<RowId> insert_cells(Connection& connection, const std::string& table, const RowWriter& writer, bool has_id) {
  BK_TRY(writer.status());
  std::string names;
  std::string marks;
  for (std::size_t i = 0; i < writer.names().size(); ++i) {
    names += (i == 0 ? "" : ", ") + writer.names()[i];
    marks += fmt::format("{}?{}", i == 0 ? "" : ", ", i + 1);
  }
  const std::string sql = "INSERT INTO " + table + " (" + names + ") VALUES (" + marks + ")";
  if (!has_id) {
    BK_TRY(run_statement(connection, sql, writer.cells()));
    return RowId{0};
  }
  BK_ASSIGN(const Cell id, query_cell(connection, sql + " RETURNING id", writer.cells()));
  const auto* number = std::get_if<std::int64_t>(&id);
  if (number == nullptr) return fail(Errc::kInternal, "the database gave no id for a new row", table);
  return *number;
}

}  // namespace bk::store
