#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("profile-step", argc, argv, bk::profile_step::run); }
