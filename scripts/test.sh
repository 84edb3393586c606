# ./dev test: what continuous integration runs. Every stage runs even when one before it failed, so that one run shows all.
. "$ROOT/scripts/lint.sh"
. "$ROOT/scripts/sanitize.sh"
. "$ROOT/scripts/cross.sh"

run_test() {
  need install install_packages build test cross engines
  stage format check_format || true
  need configure configure dev
  need build build dev
  stage engines bash scripts/engines.sh || true
  stage tests ctest_in dev "$@" || true
  stage tidy run_tidy || true
  sanitize_stages
  cross_stages
  print_stages
  close_with_summaries
  [ ${#FAILED[@]} = 0 ] || exit 1
}

# The runs' own closing lines; the main one stands last.
close_with_summaries() {
  local run
  for run in cross-tests tsan-tests fuzz-tests asan-tests tests; do
    echo "[$run]"
    ctest_summary "$LOGS/$run.log" 2>/dev/null || true
  done
  [ ${#FAILED[@]} = 0 ] || echo "failed stages: ${FAILED[*]}"
}
