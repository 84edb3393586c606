#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("metrics-delta", argc, argv, bk::metrics_delta::run); }
