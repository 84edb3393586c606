#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("b12x-preflight", argc, argv, bk::b12x::run); }
