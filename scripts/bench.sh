# ./dev bench: what the tools themselves cost. The program prints a table, or with --json FILE one flat object of numbers.
#   bench --grid    only how true the figures of every program are, minutes; exit code 1 when one is out of bounds
#   bench --peers   llama-benchy and benchy in turn on sim-engine and on llama.cpp: their rows, how far apart, and what each
#                   costs; --rounds N, --only sim|llama-cpp|costs. Exit code 1 when something is further apart than wanted
#   bench --peers all   the costs of guidellm and vLLM's bench too: about 12 GB of virtual environments
LLAMA_BENCHY=0.4.0
GUIDELLM=0.8.1

run_bench() {
  local peers=
  [ "${1:-}" != --peers ] || { peers=1; shift; }
  need install install_packages build
  need configure configure dev
  if [ -n "$peers" ]; then
    need install install_packages engines
    need build build dev sim-engine benchy
    need llama-benchy install_peer llama-benchy llama-benchy "$LLAMA_BENCHY"
    [ "${1:-}" != all ] || {
      shift
      set -- --all "$@"
      # One that cannot be installed is left out of the table, with a line that says so.
      stage guidellm install_peer guidellm guidellm "$GUIDELLM" || true
      stage vllm bash "$ROOT/scripts/engines.sh" --vllm || true
    }
    need engines bash "$ROOT/scripts/engines.sh"
    python3 scripts/peers --bin build/dev/bin --venvs .engines --work build/peers "$@"
    return
  fi
  need build build dev bk-perf sim-engine bench-probe bench-dec bench-ctx bench-conc bench-tp4 streamgap benchy
  build/dev/bin/bk-perf "$@"
}

# install_peer VENV PACKAGE VERSION
install_peer() {
  local venv=.engines/$1
  [ "$("$venv/bin/pip" show "$2" 2>/dev/null | sed -n 's/^Version: //p')" != "$3" ] || { echo "it is there"; return 0; }
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "$2==$3"
}
