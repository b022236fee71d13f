/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `raddle cc`: runs clang so that its result contains bitcode and the link line.  Otherwise it
 * behaves like clang.
 */
#ifndef BITCODE_CC_H
#define BITCODE_CC_H

/* argv[0] is ignored; the other arguments are passed to `driver` ("clang-19", "clang++-19").
 * Returns clang's exit status, or 1 with a message.  Does not return if it can replace this process
 * by clang (exec). */
int bitcode_cc(const char *driver, int argc, char **argv);

#endif
