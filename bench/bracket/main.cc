#include "cli/run_main.h"
#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("bracket", argc, argv, bk::bracket_tool::run); }
