/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of a build: the name under which the hive keeps it. */
#ifndef BITCODE_BUILD_ID_H
#define BITCODE_BUILD_ID_H

#include "bitcode/elf.h"

/* Room for 64 characters and the terminating NUL. */
#define RD_BUILD_ID_SIZE 65

/* The lower-case hexadecimal digits of the GNU build-id.  Without a build-id: 'x' and the XXH128 of
 * the file's bytes.  `path` is the path of a file; PATH is not searched. */
int rd_build_id(const char *path, char id[RD_BUILD_ID_SIZE]);

/* Like rd_build_id(), for a file in memory, from which `e` has been parsed. */
void bitcode_build_id(const struct bitcode_elf *e, char id[RD_BUILD_ID_SIZE]);

#endif
