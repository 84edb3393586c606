#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("bench-conc-mpi", argc, argv, bk::bench_conc_mpi::run); }
