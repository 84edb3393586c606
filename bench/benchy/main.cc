#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("benchy", argc, argv, bk::benchy::run); }
