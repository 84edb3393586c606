#include "run.h"

int main(int argc, char** argv) { return bk::cli::run_main("image-watch", argc, argv, bk::image_watch::run); }
