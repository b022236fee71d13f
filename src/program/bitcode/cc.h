/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `raddle cc`: runs clang so that what it makes carries its bitcode and its
 * link line, and otherwise does what clang does.
 */
#ifndef BITCODE_CC_H
#define BITCODE_CC_H

/* argv[0] is ignored; the rest is for the driver ("clang-19", "clang++-19").
 * Returns the exit status clang had, or 1 with a message; does not return where
 * clang can simply take our place. */
int bitcode_cc(const char *driver, int argc, char **argv);

#endif
