#include "trace/names.h"

namespace bk::trace {

std::uint32_t Names::index_of(Kind kind, std::string_view text, std::string_view category) {
  Index& index = by_name_[static_cast<std::size_t>(kind)];
  const auto found = index.find(text);
  if (found != index.end()) return found->second;
  const auto at = static_cast<std::uint32_t>(names_.size());
  names_.push_back({std::string(text), std::string(category), kind, 0, 0});
  index.emplace(text, at);
  return at;
}

std::uint32_t Names::index_of(std::string_view device, std::string_view stream) {
  // Neighbours in a trace mostly share their stream.
  if (last_stream_ < streams_.size() && streams_[last_stream_].device == device &&
      streams_[last_stream_].id == stream) {
    return last_stream_;
  }
  key_.assign(device).append(":").append(stream);
  const auto found = by_stream_.find(std::string_view(key_));
  if (found != by_stream_.end()) return last_stream_ = found->second;
  const auto at = static_cast<std::uint32_t>(streams_.size());
  last_stream_ = at;
  streams_.push_back({std::string(device), std::string(stream)});
  by_stream_.emplace(key_, at);
  return at;
}

Names::Place Names::place_of(const Event& event) {
  const auto look_up = [&]() -> Place {
    return {index_of(event.kind, event.name, event.category), index_of(event.device, event.stream)};
  };
  if (event.form == 0) return look_up();
  Known& known = known_[event.form % known_.size()];
  if (known.form != event.form) known = {event.form, look_up()};
  return known.place;
}

}  // namespace bk::trace
