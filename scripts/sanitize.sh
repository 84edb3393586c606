# ./dev sanitize: everything under ASan and UBSan with the fuzzers, the load path under TSan.

# The test programs whose code runs on several threads or drives the network.
tsan_suites() {
  local suite
  for suite in base stream http engine load leg boot bracket cli sim programs; do
    [ ! -e "tests/$suite/CMakeLists.txt" ] || echo "$suite"
  done
}

tsan_build() {
  local suite targets=(sim-engine)
  for suite in $(tsan_suites); do targets+=("${suite}_test"); done
  build tsan "${targets[@]}"
}

# Address randomisation of new kernels does not fit the thread sanitizer's map of memory.
tsan_tests() {
  local names
  names=$(tsan_suites | paste -sd'|')
  TSAN_OPTIONS=halt_on_error=1 setarch "$(uname -m)" -R ctest --test-dir build/tsan --output-on-failure --no-tests=error \
    -j "$JOBS" -R "^($names)$"
}

asan_tests() {
  ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
    ctest_in asan-ubsan -LE 'engine|perf|meta'
}

sanitize_stages() {
  if stage asan-configure configure asan-ubsan && stage asan-build build asan-ubsan; then stage asan-tests asan_tests || true; fi
  if stage tsan-configure configure tsan && stage tsan-build tsan_build; then stage tsan-tests tsan_tests || true; fi
}

run_sanitize() {
  need install install_packages build test
  sanitize_stages
  print_stages
  [ ${#FAILED[@]} = 0 ] || exit 1
}
