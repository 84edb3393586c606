#include "base/byte_level.h"
#include "base/json.h"
#include "tokenizer.h"

namespace bk::sim {
namespace {

Json byte_level_step() {
  return Json::object()
      .set("type", "ByteLevel")
      .set("add_prefix_space", false)
      .set("trim_offsets", true)
      .set("use_regex", false);
}

}  // namespace

std::string Tokenizer::to_hugging_face_json() const {
  std::string vocab_text;
  for (std::int32_t id = 0; id < size(); ++id) {
    vocab_text += fmt::format("{}{}:{}", id == 0 ? "" : ",", Json(byte_level(bytes_of(id))).dump(), id);
  }
  vocab_text += fmt::format(",\"<unk>\":{}", size());
  Json split = Json::object();
  split.set("type", "Split")
      .set("pattern",
           Json::object().set("Regex", " ?[A-Za-z]{1,16}| ?[0-9]{1,3}| ?[^A-Za-z0-9 \\t\\r\\n]{1,8}|[ \\t\\r\\n]"));
  split.set("behavior", "Isolated").set("invert", false);
  Json steps = Json::array();
  steps.push(split).push(byte_level_step());
  Json document = Json::object();
  document.set("version", "1.0").set("truncation", Json()).set("padding", Json()).set("added_tokens", Json::array());
  document.set("normalizer", Json());
  document.set("pre_tokenizer", Json::object().set("type", "Sequence").set("pretokenizers", steps));
  document.set("post_processor", Json()).set("decoder", byte_level_step());
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
