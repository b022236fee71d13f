// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle cc` and `raddle c++`: drop-in replacements for the compilers.  All options are those of
 * clang.  bitcode/cc.c does the work.
 */
#include "cmd/cmd-int.h"

#include "bitcode/cc.h"

int cmd_cc(int argc, char **argv)
{
	return bitcode_cc("clang-" RADDLE_LLVM, argc, argv);
}

int cmd_cxx(int argc, char **argv)
{
	return bitcode_cc("clang++-" RADDLE_LLVM, argc, argv);
}
