#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("needle-256k", argc, argv, bk::needle_256k::run); }
