# ./dev sanitize: libraries under ASan and UBSan, fuzzers for seconds, the load path under TSan.

# What reads foreign bytes, holds sockets, files or processes.
ASAN_SUITES="base stream http engine load gate manifest trace store report boot cli"
# What runs beside threads of its own or of a library.
TSAN_SUITES="stream http engine load kernels"

# sanitized_build PRESET SUITE...: the test programs of those suites that exist, and the engine that they start.
sanitized_build() {
  local preset=$1 suite targets=(sim-engine)
  shift
  for suite in "$@"; do
    [ ! -e "tests/$suite/CMakeLists.txt" ] || targets+=("${suite}_test")
  done
  build "$preset" "${targets[@]}"
}

only() { echo "^($(echo "$@" | tr ' ' '|'))\$"; }

# shellcheck disable=SC2086
asan_build() { sanitized_build asan-ubsan $ASAN_SUITES; }
# shellcheck disable=SC2086
asan_tests() {
  ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
    ctest_in asan-ubsan -R "$(only $ASAN_SUITES)"
}

fuzz_build() { build fuzz fuzzers; }
fuzz_tests() { UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ctest_in fuzz -R '^fuzz_'; }

# shellcheck disable=SC2086
tsan_build() { sanitized_build tsan $TSAN_SUITES; }
# Address randomisation of new kernels does not fit the thread sanitizer's map of memory.
# shellcheck disable=SC2086
tsan_tests() {
  TSAN_OPTIONS=halt_on_error=1 setarch "$(uname -m)" -R ctest --test-dir build/tsan --output-on-failure --no-tests=error \
    -j "$JOBS" -R "$(only $TSAN_SUITES)"
}

sanitize_stages() {
  if stage asan-configure configure asan-ubsan && stage asan-build asan_build; then stage asan-tests asan_tests || true; fi
  if stage fuzz-configure configure fuzz && stage fuzz-build fuzz_build; then stage fuzz-tests fuzz_tests || true; fi
  if stage tsan-configure configure tsan && stage tsan-build tsan_build; then stage tsan-tests tsan_tests || true; fi
}

run_sanitize() {
  need install install_packages build test
  sanitize_stages
  print_stages
  [ ${#FAILED[@]} = 0 ] || exit 1
}
