#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("bench-probe", argc, argv, bk::run); }
