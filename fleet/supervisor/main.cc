#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("supervisor", argc, argv, bk::supervisor::run); }
