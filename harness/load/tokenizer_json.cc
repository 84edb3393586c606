#include "load/tokenizer_json.h"

#include <simdjson.h>

#include <filesystem>
#include <optional>
#include <unordered_map>

#include "base/byte_level.h"
#include "base/file.h"
#include "load/ascii_pattern.h"
#include "load/token_model.h"

namespace bk::load {
namespace {

using simdjson::dom::element;
using Pieces = std::vector<std::string_view>;

// Source: the pattern of the GPT-2 encoder, which a ByteLevel step applies unless it says otherwise.
constexpr const char* kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

tl::unexpected<Error> refuse(const std::string& what) {
  return fail(Errc::kUsage, what + " is not supported: leave --tokenizer out to size prompts by the server");
}

std::string_view string_in(const element& object, const char* key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? text : std::string_view();
}
bool bool_in(const element& object, const char* key, bool otherwise) {
  bool value = otherwise;
  return object[key].get(value) == simdjson::SUCCESS ? value : otherwise;
}
std::string_view type_of(const element& object) { return string_in(object, "type"); }

/// The member, when it is there and not null.
std::optional<element> member(const element& object, const char* key) {
  element value;
  if (object[key].get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
  return value;
}

/// One step of the pre-tokenizer: cuts pieces by a pattern.
struct Step {
  std::optional<AsciiPattern> pattern;  ///< nothing: the pieces stay
  bool drop_matches = false, drop_gaps = false;
  bool leading_blank = false;  ///< a piece that begins with no blank gets one
};

}  // namespace

struct TokenizerJson::Parts {
  std::vector<Step> steps;
  TokenModel model;
  std::vector<std::string> added;
};

namespace {

Status check_normalizer(const element& normalizer) {
  const std::string_view type = type_of(normalizer);
  if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD") return {};
  if (type != "Sequence") return refuse(fmt::format("the normalizer \"{}\"", type));
  simdjson::dom::array list;
  if (normalizer["normalizers"].get(list) != simdjson::SUCCESS) return refuse("a sequence without normalizers");
  for (const element& one : list) BK_TRY(check_normalizer(one));
  return {};
}

Result<Step> split_step(const element& json) {
  Step step;
  const std::string_view behavior = string_in(json, "behavior");
  const bool invert = bool_in(json, "invert", false);
  if (behavior == "Removed") {
    (invert ? step.drop_gaps : step.drop_matches) = true;
  } else if (behavior != "Isolated") {
    return refuse(fmt::format("a split that is \"{}\"", behavior));
  }
  element pattern;
  std::string_view regex, literal;
  if (json["pattern"].get(pattern) != simdjson::SUCCESS) return refuse("a split without a pattern");
  if (pattern["Regex"].get(regex) != simdjson::SUCCESS) {
    if (pattern["String"].get(literal) != simdjson::SUCCESS) return refuse("a split without a pattern");
    std::string quoted;
    for (const char c : literal) {
      if (std::string_view(R"(\.[]{}()*+?^$|)").find(c) != std::string_view::npos) quoted += '\\';
      quoted += c;
    }
    BK_ASSIGN(step.pattern, AsciiPattern::parse(quoted));
    return step;
  }
  BK_ASSIGN(step.pattern, AsciiPattern::parse(regex));
  return step;
}

Status add_steps(const element& json, std::vector<Step>& steps, bool& bytes) {
  const std::string_view type = type_of(json);
  if (type == "Sequence") {
    simdjson::dom::array list;
    if (json["pretokenizers"].get(list) != simdjson::SUCCESS) return refuse("a sequence without pretokenizers");
    for (const element& one : list) BK_TRY(add_steps(one, steps, bytes));
    return {};
  }
  if (bytes) return refuse(fmt::format("the pre-tokenizer \"{}\" after ByteLevel", type));
  Step step;
  if (type == "ByteLevel") {
    bytes = true;
    step.leading_blank = bool_in(json, "add_prefix_space", true);
    if (bool_in(json, "use_regex", true)) {
      BK_ASSIGN(step.pattern, AsciiPattern::parse(kGpt2));
    }
  } else if (type == "Split") {
    BK_ASSIGN(step, split_step(json));
  } else if (type == "Digits") {
    BK_ASSIGN(step.pattern, AsciiPattern::parse(bool_in(json, "individual_digits", false) ? "[0-9]" : "[0-9]+"));
  } else {
    return refuse(fmt::format("the pre-tokenizer \"{}\"", type));
  }
  steps.push_back(std::move(step));
  return {};
}

Status read_vocabulary(const element& model, TokenModel& out) {
  simdjson::dom::object vocabulary;
  if (model["vocab"].get(vocabulary) != simdjson::SUCCESS) return refuse("a model without a vocabulary");
  for (const auto field : vocabulary) {
    std::int64_t id = 0;
    if (field.value.get(id) != simdjson::SUCCESS) return refuse("a vocabulary whose ids are no numbers");
    out.ids[std::string(field.key)] = static_cast<std::int32_t>(id);
  }
  return {};
}

Status read_bpe(const element& model, TokenModel& out) {
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!string_in(model, key).empty()) return refuse(fmt::format("BPE with \"{}\"", key));
  }
  if (bool_in(model, "byte_fallback", false)) return refuse("BPE with \"byte_fallback\" (SentencePiece)");
  double dropout = 0;
  if (model["dropout"].get(dropout) == simdjson::SUCCESS && dropout > 0) return refuse("BPE with \"dropout\"");
  out.whole_first = bool_in(model, "ignore_merges", false);
  simdjson::dom::array merges;
  if (model["merges"].get(merges) != simdjson::SUCCESS) return refuse("BPE without merges");
  std::int32_t rank = 0;
  for (const element& merge : merges) {
    std::string_view text, left, right;
    if (merge.get(text) == simdjson::SUCCESS) {
      out.merge_ranks.emplace(text, rank++);
    } else if (merge.at(0).get(left) == simdjson::SUCCESS && merge.at(1).get(right) == simdjson::SUCCESS) {
      out.merge_ranks.emplace(fmt::format("{} {}", left, right), rank++);
    } else {
      return refuse("a merge that is no pair");
    }
  }
  return {};
}

Status read_word_piece(const element& model, TokenModel& out) {
  out.kind = TokenModel::Kind::kWordPiece;
  if (!string_in(model, "continuing_subword_prefix").empty()) {
    return refuse(fmt::format("WordPiece with the prefix \"{}\"", string_in(model, "continuing_subword_prefix")));
  }
  const auto unknown = out.ids.find(std::string(string_in(model, "unk_token")));
  if (unknown != out.ids.end()) out.unknown = unknown->second;
  std::int64_t longest = 0;
  if (model["max_input_chars_per_word"].get(longest) == simdjson::SUCCESS && longest > 0) {
    out.longest_word = static_cast<std::size_t>(longest);
  }
  return {};
}

Status read_model(const element& model, TokenModel& out) {
  const std::string_view type = type_of(model);
  // Old files leave the type of a BPE out.
  const bool bpe = type == "BPE" || (type.empty() && member(model, "merges"));
  if (!bpe && type != "WordPiece") return refuse(fmt::format("the model \"{}\"", type));
  BK_TRY(read_vocabulary(model, out));
  return bpe ? read_bpe(model, out) : read_word_piece(model, out);
}

void cut(const Step& step, std::string_view piece, Pieces& out) {
  std::size_t gap = 0;
  const auto close_gap = [&](std::size_t end) {
    if (end > gap && !step.drop_gaps) out.push_back(piece.substr(gap, end - gap));
  };
  for (std::size_t at = 0; at < piece.size();) {
    const auto end = step.pattern->match(piece, at);
    if (!end || *end == at) {
      ++at;
      continue;
    }
    close_gap(at);
    if (!step.drop_matches) out.push_back(piece.substr(at, *end - at));
    gap = at = *end;
  }
  close_gap(piece.size());
}

}  // namespace

Result<TokenizerJson> TokenizerJson::load(const std::string& path) {
  std::filesystem::path file = path;
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) file /= "tokenizer.json";
  BK_ASSIGN(const std::string text, read_file(file));
  return parse(text, file);
}

Result<TokenizerJson> TokenizerJson::parse(std::string_view text, const std::string& where) {
  simdjson::dom::parser parser;
  element document;
  if (const auto error = parser.parse(simdjson::padded_string(text)).get(document)) {
    return fail(Errc::kParse, std::string("not JSON: ") + simdjson::error_message(error), where);
  }
  auto parts = std::make_shared<Parts>();
  const auto read = [&]() -> Status {
    if (const auto normalizer = member(document, "normalizer")) BK_TRY(check_normalizer(*normalizer));
    bool bytes = false;
    if (const auto steps = member(document, "pre_tokenizer")) BK_TRY(add_steps(*steps, parts->steps, bytes));
    const auto model = member(document, "model");
    if (!model) return refuse("a file without a model");
    BK_TRY(read_model(*model, parts->model));
    // SentencePiece conversions among others: their vocabularies spell blanks and bytes in another way.
    if (!bytes) return refuse("a tokenizer without a ByteLevel step");
    simdjson::dom::array added;
    if (document["added_tokens"].get(added) != simdjson::SUCCESS) return {};
    for (const element& token : added) parts->added.emplace_back(string_in(token, "content"));
    return {};
  };
  if (const auto done = read(); !done) return fail(done.error().code, done.error().what, where);
  return TokenizerJson(std::move(parts));
}

Result<std::vector<std::int32_t>> TokenizerJson::encode(std::string_view text) const {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      return fail(Errc::kUsage, "a tokenizer.json counts ASCII text only: use the server's tokenizer for other text");
    }
  }
  for (const std::string& token : parts_->added) {
    if (!token.empty() && text.find(token) != std::string_view::npos) {
      return fail(Errc::kUsage, "the text holds the added token \"" + token + "\": it cannot be counted");
    }
  }
  std::vector<std::string> owned;
  if (!text.empty()) owned.emplace_back(text);
  for (const Step& step : parts_->steps) {
    std::vector<std::string> next;
    for (std::string& piece : owned) {
      if (step.leading_blank && piece.front() != ' ') piece = ' ' + piece;
      if (!step.pattern) {
        next.push_back(std::move(piece));
        continue;
      }
      Pieces pieces;
      cut(step, piece, pieces);
      for (const std::string_view one : pieces) next.emplace_back(one);
    }
    owned = std::move(next);
  }
  std::vector<std::int32_t> ids;
  std::unordered_map<std::string, std::vector<std::int32_t>> known;  // prompts repeat their words
  for (const std::string& piece : owned) {
    const auto [found, fresh] = known.try_emplace(piece);
    if (fresh) parts_->model.encode(byte_level(piece), found->second);
    ids.insert(ids.end(), found->second.begin(), found->second.end());
  }
  return ids;
}

Result<std::int64_t> TokenizerJson::count(std::string_view text) const {
  BK_ASSIGN(const std::vector<std::int32_t> ids, encode(text));
  return static_cast<std::int64_t>(ids.size());
}

}  // namespace bk::load
