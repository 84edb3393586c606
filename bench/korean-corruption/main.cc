#include "run.h"

int main(int argc, char** argv) {
  return bk::cli::run_main("korean-corruption", argc, argv, bk::korean_corruption::run);
}
