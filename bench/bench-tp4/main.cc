#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("bench-tp4", argc, argv, bk::bench_tp4::run); }
