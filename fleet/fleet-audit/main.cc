#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("fleet-audit", argc, argv, bk::fleet_audit::run); }
