#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("bench-conc", argc, argv, bk::bench_conc::run); }
