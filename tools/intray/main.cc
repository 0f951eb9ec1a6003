#include "cli/app.h"

int main(int argc, char** argv) { return intray::cli::run(argc, argv); }
