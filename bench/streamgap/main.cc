#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("streamgap", argc, argv, bk::streamgap::run); }
