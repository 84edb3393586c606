# ./dev bench: what the tools themselves cost. The program prints a table, or with --json FILE one flat object of numbers.
run_bench() {
  need install install_packages build
  need configure configure dev
  need build build dev bk-perf sim-engine bench-probe
  build/dev/bin/bk-perf "$@"
}
