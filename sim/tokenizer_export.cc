#include <array>

#include "base/json.h"
#include "tokenizer.h"

namespace bk::sim {
namespace {

std::string utf8(int code) {
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xC0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3F))};
}

// The printable stand-in of each byte in byte-level vocabularies: printable Latin-1 is itself, the rest follows U+0100.
std::array<std::string, 256> stand_ins() {
  std::array<std::string, 256> out;
  int next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    out[static_cast<std::size_t>(byte)] = utf8(printable ? byte : next++);
  }
  return out;
}

Json byte_level() {
  return Json::object()
      .set("type", "ByteLevel")
      .set("add_prefix_space", false)
      .set("trim_offsets", true)
      .set("use_regex", false);
}

}  // namespace

std::string Tokenizer::to_hugging_face_json() const {
  const auto stand_in = stand_ins();
  std::string vocab_text;
  for (std::int32_t id = 0; id < size(); ++id) {
    std::string name;
    for (const char c : bytes_of(id)) name += stand_in[static_cast<unsigned char>(c)];
    vocab_text += fmt::format("{}{}:{}", id == 0 ? "" : ",", Json(name).dump(), id);
  }
  vocab_text += fmt::format(",\"<unk>\":{}", size());
  Json split = Json::object();
  split.set("type", "Split")
      .set("pattern",
           Json::object().set("Regex", " ?[A-Za-z]{1,16}| ?[0-9]{1,3}| ?[^A-Za-z0-9 \\t\\r\\n]{1,8}|[ \\t\\r\\n]"));
  split.set("behavior", "Isolated").set("invert", false);
  Json steps = Json::array();
  steps.push(split).push(byte_level());
  Json document = Json::object();
  document.set("version", "1.0").set("truncation", Json()).set("padding", Json()).set("added_tokens", Json::array());
  document.set("normalizer", Json());
  document.set("pre_tokenizer", Json::object().set("type", "Sequence").set("pretokenizers", steps));
  document.set("post_processor", Json()).set("decoder", byte_level());
  // The vocabulary is written by hand: as a Json object each of its 25,000 members would be searched for before it is
  // set.
  std::string text = document.dump();
  text.back() = ',';
  return text +
         "\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"<unk>\",\"continuing_subword_prefix\":\"\","
         "\"max_input_chars_per_word\":100,\"vocab\":{" +
         vocab_text + "}}}\n";
}

}  // namespace bk::sim
