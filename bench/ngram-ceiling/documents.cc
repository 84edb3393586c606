#include "documents.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "load/prompt_file.h"

namespace bk::ngram_ceiling {
namespace {

Result<Document> raw_document(const std::string& text, std::size_t warmup, const Encode& encode) {
  Document document;
  BK_ASSIGN(document.tokens, encode(text));
  document.prompt = std::min(warmup, document.tokens.size());
  return document;
}

Result<Document> line_document(const Json& line, std::size_t warmup, const Encode& encode, const std::string& where) {
  const auto prompt = line["prompt"].as_string(), completion = line["completion"].as_string();
  if (prompt && completion) {
    Document document;
    BK_ASSIGN(document.tokens, encode(*prompt));
    document.prompt = document.tokens.size();
    BK_ASSIGN(const Tokens rest, encode(*completion));
    document.tokens.insert(document.tokens.end(), rest.begin(), rest.end());
    return document;
  }
  if (const auto text = line["text"].as_string()) return raw_document(*text, warmup, encode);
  return fail(Errc::kUsage, R"(a line needs "prompt" and "completion", or "text")", where);
}

}  // namespace

Result<Tokens> chars_of(const std::string& text) {
  if (!is_utf8(text)) return fail(Errc::kUsage, "the text is not UTF-8");
  Tokens tokens;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) {
      tokens.back() = tokens.back() * 64 + (byte & 0x3F);
    } else {
      tokens.push_back(byte);
    }
  }
  return tokens;
}

Result<std::vector<Document>> read_documents(const std::string& path, std::size_t warmup, const Encode& encode) {
  std::vector<Document> documents;
  if (!path.ends_with(".jsonl")) {
    BK_ASSIGN(const std::string bytes, read_file(path));
    auto document = raw_document(bytes, warmup, encode);
    if (!document) return fail(document.error().with(path));
    documents.push_back(std::move(*document));
    return documents;
  }
  BK_TRY(load::each_json_line(path, [&](const Json& line, const std::string& where) -> Status {
    BK_ASSIGN(Document document, line_document(line, warmup, encode, where));
    documents.push_back(std::move(document));
    return {};
  }));
  return documents;
}

}  // namespace bk::ngram_ceiling
