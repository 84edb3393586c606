#include "http/chunks.h"

#include <catch2/catch.hpp>
#include <random>
#include <string>

using bk::http::Chunks;

namespace {

struct Undone {
  std::string body;
  std::size_t consumed = 0;
  bool ended = false, broken = false;
};

/// `bytes` given in pieces of `piece`.
Undone undo(const std::string& bytes, std::size_t piece) {
  Chunks chunks;
  Undone out;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    std::string_view left = std::string_view(bytes).substr(at, piece);
    while (!left.empty()) {
      const Chunks::Piece next = chunks.next(left);
      if (next.consumed == 0) break;
      out.body += next.data;
      out.consumed += next.consumed;
      left.remove_prefix(next.consumed);
    }
  }
  out.ended = chunks.ended();
  out.broken = chunks.broken();
  return out;
}

}  // namespace

TEST_CASE("chunks are undone however they are cut, with extensions, trailers and bare line feeds") {
  const auto [bytes, body] = GENERATE(table<std::string, std::string>({
      {"5\r\nhello\r\n0\r\n\r\n", "hello"},
      {"5;name=value\r\nhello\r\n6 \r\n world\r\n000\r\n\r\n", "hello world"},
      {"A\r\n0123456789\r\na\r\n0123456789\r\n0\r\nExpires: 0\r\nX: 1\r\n\r\n", "01234567890123456789"},
      {"3\nabc\n0\n\n", "abc"},
      {"2\r\n\r\n\r\n0\r\n\r\n", "\r\n"},
      {"0\r\n\r\n", ""},
  }));
  const std::size_t piece = GENERATE(1, 2, 3, 7, 1000);
  const Undone undone = undo(bytes, piece);
  CHECK(undone.body == body);
  CHECK(undone.ended);
  CHECK(undone.consumed == bytes.size());
}

TEST_CASE("nothing is taken of what follows the last chunk") {
  const std::string answer = "1\r\na\r\n0\r\n\r\n";
  const Undone undone = undo(answer + "HTTP/1.1 200 OK\r\n", 1000);
  CHECK(undone.ended);
  CHECK(undone.body == "a");
  CHECK(undone.consumed == answer.size());
}

TEST_CASE("what is no chunk is broken, and a stream that is cut has not ended") {
  for (const char* bytes : {"hello\r\n", "\r\n", "-1\r\n", "0x5\r\nhello\r\n", "5\r\nhelloX0\r\n\r\n",
                            "ffffffffffffffffff\r\nhello", ";x\r\n", "5g\r\n"}) {
    CAPTURE(bytes);
    CHECK(undo(bytes, 1).broken);
    CHECK(undo(bytes, 1000).broken);
  }
  for (const char* bytes : {"", "5", "5\r\nhel", "5\r\nhello\r\n", "5\r\nhello\r\n0\r\n", "0\r\nX: 1\r\n"}) {
    CAPTURE(bytes);
    const Undone undone = undo(bytes, 1);
    CHECK_FALSE(undone.ended);
    CHECK_FALSE(undone.broken);
  }
}

TEST_CASE("random bodies in random chunks, cut anywhere, come out whole") {
  std::mt19937 random(20261201);
  const auto below = [&random](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  for (int round = 0; round < 300; ++round) {
    std::string body, bytes;
    for (std::size_t chunks = below(6); chunks > 0; --chunks) {
      std::string part(1 + below(600), ' ');
      for (char& c : part) c = static_cast<char>(below(256));
      char size[32];
      std::snprintf(size, sizeof size, below(2) == 0 ? "%zx\r\n" : "%04zX;e=\"1\"\r\n", part.size());
      bytes += size + part + "\r\n";
      body += part;
    }
    bytes += "0\r\n\r\n";
    const Undone undone = undo(bytes, 1 + below(bytes.size()));
    REQUIRE(undone.body == body);
    REQUIRE(undone.ended);
  }
}
