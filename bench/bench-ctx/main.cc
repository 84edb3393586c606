#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("bench-ctx", argc, argv, bk::bench_ctx::run); }
