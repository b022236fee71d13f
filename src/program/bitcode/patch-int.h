/* SPDX-License-Identifier: Apache-2.0 */
/* Changes that the wrapper makes to an object after clang has written it. */
#ifndef BITCODE_PATCH_INT_H
#define BITCODE_PATCH_INT_H

#include "base/buf.h"

#include <stdbool.h>

/* Renames clang's bitcode sections in `path`, in place.  If `hide_debug` is set, marks the
 * object's debug sections so that the linker drops them.  A file that is not a regular ELF file,
 * such as /dev/null, is left alone without an error. */
int bitcode_patch_names(const char *path, bool hide_debug);

/* Renames the bitcode sections in an assembler file that -S made. */
int bitcode_patch_assembly(const char *path);

/* Adds a section to an object without bitcode.  The section contains a copy of the object itself.
 * So the linked program contains all parts that are needed to link it again. */
int bitcode_patch_native(const char *path);

/* Appends to `out` an entry of the section that holds copies of objects without bitcode. */
void bitcode_native_entry(struct rd_buf *out, const char *name, const void *data, size_t length);

/* Makes a new object in `out`.  It consists of the section with the link line and, if `note` is
 * set, the note with its key. */
void bitcode_link_object(struct rd_buf *out, const struct rd_buf *line, bool note);

#endif
