# ./dev test: what continuous integration runs. Every stage runs even when one before it failed, so that one run shows all.
. "$ROOT/scripts/lint.sh"
. "$ROOT/scripts/sanitize.sh"
. "$ROOT/scripts/cross.sh"

run_test() {
  need install install_packages build test engines cross
  stage format check_format || true
  need configure configure dev
  need build build dev
  stage engines bash scripts/engines.sh || true
  stage tests ctest_in dev "$@" || true
  stage tidy run_tidy || true
  sanitize_stages
  cross_stages
  print_stages
  close_with_summary
  [ ${#FAILED[@]} = 0 ] || exit 1
}

# What failed, once more where it is seen; ctest's own closing lines stand last.
close_with_summary() {
  [ ${#FAILED[@]} = 0 ] || echo "failed stages: ${FAILED[*]}"
  grep -A 12 -E ': FAILED:$' "$LOGS/tests.log" 2>/dev/null | head -n 120 || true
  ctest_summary "$LOGS/tests.log" 2>/dev/null || true
}
