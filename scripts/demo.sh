# ./dev demo: a bracket of the embedded engine, and its ledger.
run_demo() {
  local bin=build/dev/bin
  need install install_packages build
  need configure configure dev
  need build build dev bracket ledger sim-engine
  mkdir -p demo
  say ""
  "$bin/bracket" run --profile sim --base GATEFUSE=0 --cand GATEFUSE=1 --boots 5 --conc 1 --reps 6 --tokens 128 \
    --db demo/results.db --log-dir demo/logs "$@"
  "$bin/ledger" render --db demo/results.db --out demo/MEASUREMENTS.md
  "$bin/ledger" report --html --db demo/results.db --out demo/report.html
  say ""
  say "every sample   demo/results.db"
  say "the ledger     demo/MEASUREMENTS.md"
  say "for a browser  demo/report.html"
  say "engine logs    demo/logs"
  say "programs       $bin (each has --help)"
  say "another run adds to the same ledger; rm -r demo starts afresh"
}
