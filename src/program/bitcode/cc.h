/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `raddle cc`: runs clang so that its result contains bitcode and the link line.  Otherwise it
 * behaves like clang.
 */
#ifndef BITCODE_CC_H
#define BITCODE_CC_H

/* `driver` is "clang-19" or "clang++-19".  argv[0] is ignored, and the other arguments are passed
 * to the driver.  Returns clang's exit status, or 1 after a message.  Does not return if it can
 * replace this process by clang (exec). */
int bitcode_cc(const char *driver, int argc, char **argv);

#endif
