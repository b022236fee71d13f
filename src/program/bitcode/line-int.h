/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the records of a link line.  Used only inside bitcode/. */
#ifndef BITCODE_LINE_INT_H
#define BITCODE_LINE_INT_H

#include "bitcode/line.h"

void bitcode_line_begin(struct rd_buf *out);
void bitcode_line_add(struct rd_buf *out, const struct bitcode_item *item);
void bitcode_line_end(struct rd_buf *out);

#endif
