# ./dev bench: what the tools themselves cost. The program prints a table, or with --json FILE one flat object of numbers.
#   bench --grid    only how true the figures of every program are, minutes; exit code 1 when one is out of bounds
#   bench --peers   llama-benchy and benchy in turn on one engine: their rows, how far apart, and what each costs
LLAMA_BENCHY=0.4.0

run_bench() {
  local peers=
  [ "${1:-}" != --peers ] || { peers=1; shift; }
  need install install_packages build
  need configure configure dev
  if [ -n "$peers" ]; then
    need install install_packages engines
    need build build dev sim-engine benchy
    need llama-benchy install_llama_benchy
    python3 scripts/peers.py --bin build/dev/bin --peer .engines/llama-benchy/bin/llama-benchy --work build/peers "$@"
    return
  fi
  need build build dev bk-perf sim-engine bench-probe bench-dec bench-ctx bench-conc bench-tp4 streamgap benchy
  build/dev/bin/bk-perf "$@"
}

install_llama_benchy() {
  local venv=.engines/llama-benchy
  [ "$("$venv/bin/pip" show llama-benchy 2>/dev/null | sed -n 's/^Version: //p')" != "$LLAMA_BENCHY" ] || { echo "it is there"; return 0; }
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "llama-benchy==$LLAMA_BENCHY"
}
