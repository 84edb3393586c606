#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("ngram-ceiling", argc, argv, bk::ngram_ceiling::run); }
