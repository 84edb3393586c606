#include "run.h"

int main(int argc, char** argv) {
  return bk::cli::run_main("greedy-divergence", argc, argv, bk::greedy_divergence::run);
}
