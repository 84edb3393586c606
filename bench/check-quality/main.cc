#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("check-quality", argc, argv, bk::check_quality::run); }
