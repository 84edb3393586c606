#include "engine/whole_answer.h"

#include <utility>

#include "engine/body.h"

namespace bk::engine {

Result<Json> whole_answer(http::Transport& transport, const Endpoint& endpoint, http::Request request) {
  BK_ASSIGN(const http::Response response, http::fetch(transport, std::move(request)));
  const std::string& where = endpoint.base_url;
  if (std::string elsewhere = http::redirected_answer(response.status, response.headers); !elsewhere.empty()) {
    return fail(Errc::kHttp, std::move(elsewhere), where);
  }
  if (response.status < 200 || response.status > 299) {
    const std::string message = error_message(response.body);
    return fail(Errc::kHttp, fmt::format("HTTP {}{}{}", response.status, message.empty() ? "" : ": ", message), where);
  }
  auto answer = parse_json(response.body);
  if (!answer) return fail(Errc::kParse, "this is no answer of a chat endpoint: " + answer.error().what, where);
  if (!(*answer)["error"].is_null()) return fail(Errc::kServer, error_message(response.body), where);
  return answer;
}

}  // namespace bk::engine
