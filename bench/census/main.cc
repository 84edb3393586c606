#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("census", argc, argv, bk::census::run); }
