#include "slice.h"

#include "base/file.h"
#include "trace/source.h"

namespace bk::census {
namespace {

bool is_metadata(std::string_view json) {
  return json.find("\"ph\": \"M\"") != std::string_view::npos || json.find("\"ph\":\"M\"") != std::string_view::npos;
}

}  // namespace

Status write_slice(const std::string& path, trace::ReadOptions options, const trace::Step& step,
                   const std::string& out) {
  options.all = true;
  BK_ASSIGN(auto source, trace::open_source(path));
  trace::Reader reader(std::move(source), options);
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  bool first = true;
  for (trace::Event event;;) {
    auto more = reader.next(event);
    if (!more) return fail(more.error().code, more.error().what, path + ", " + more.error().where);
    if (!*more) break;
    const bool inside = event.ts_ns < step.end_ns && event.ts_ns + event.dur_ns >= step.begin_ns;
    if (!inside && !is_metadata(event.json)) continue;
    if (!first) text += ",\n";
    first = false;
    text += event.json;
  }
  text += "\n]}\n";
  return write_file_atomic(out, text);
}

}  // namespace bk::census
