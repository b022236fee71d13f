/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of a build: the name under which the hive keeps it. */
#ifndef BITCODE_BUILD_ID_H
#define BITCODE_BUILD_ID_H

#include "bitcode/elf.h"

/* Room for 64 characters and the terminating NUL. */
#define RD_BUILD_ID_SIZE 65

/* Stores the GNU build-id in `id`, in lower-case hexadecimal digits.  If the file has no build-id,
 * stores 'x' and the XXH128 of the file's bytes.  `path` is the path of a file; PATH is not
 * searched. */
int rd_build_id(const char *path, char id[RD_BUILD_ID_SIZE]);

/* Does the same as rd_build_id() for a file in memory, which has been parsed into `e`. */
void bitcode_build_id(const struct bitcode_elf *e, char id[RD_BUILD_ID_SIZE]);

#endif
