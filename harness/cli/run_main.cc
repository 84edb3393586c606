#include "cli/run_main.h"

#include <exception>
#include <iostream>

#include "base/text.h"

namespace bk::cli {
namespace {

std::string one_line(const std::string& text) {
  std::string line;
  for (const std::string_view part : split_lines(text)) {
    const std::string_view piece = trim(part);
    if (piece.empty()) continue;
    if (!line.empty()) line += "; ";
    line += piece;
  }
  return line;
}

Result<ExitCode> guarded(Streams& streams, const Args& args, const Run& run) {
  try {
    auto result = run(streams, args);
    streams.out.flush();
    if (result && !streams.out) return fail(Errc::kIo, "standard output could not be written: is the disk full?");
    return result;
  } catch (const std::exception& e) {
    return fail(Errc::kInternal, std::string("unexpected exception: ") + e.what());
  } catch (...) {
    return fail(Errc::kInternal, "unexpected exception of an unknown type");
  }
}

}  // namespace

int run_with(const std::string& name, Streams& streams, const Args& args, const Run& run) {
  const auto result = guarded(streams, args, run);
  if (result) return static_cast<int>(*result);
  streams.err << name << ": error: " << redact(one_line(result.error().text()), streams.secrets) << '\n' << std::flush;
  return static_cast<int>(exit_code_of(result.error().code));
}

int run_main(const std::string& name, int argc, char** argv, const Run& run) {
  std::ios::sync_with_stdio(false);
  Streams streams{std::cout, std::cerr};
  return run_with(name, streams, Args(argv + (argc > 0 ? 1 : 0), argv + argc), run);
}

}  // namespace bk::cli
