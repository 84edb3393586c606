#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("profile", argc, argv, bk::profile_tool::run); }
