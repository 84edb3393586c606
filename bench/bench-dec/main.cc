#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("bench-dec", argc, argv, bk::run); }
