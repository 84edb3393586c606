#include <iostream>

#include "run.h"

int main(int argc, char** argv) { return bk::sim::run({std::cout, std::cerr}, argc, argv); }
