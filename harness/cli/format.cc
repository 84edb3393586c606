#include "cli/format.h"

#include <utility>

namespace bk::cli {

void add_format(App& app, CommonFlags& flags, std::vector<std::string> formats) {
  app.option("--format", flags.format, "form of the data").choices(std::move(formats));
  app.flag(
      "--json", [&flags] { flags.format = "json"; }, "short for --format json");
}

}  // namespace bk::cli
