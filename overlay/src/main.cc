#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("overlay", argc, argv, bk::overlay::run); }
