#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("bk-perf", argc, argv, bk::perf::run); }
