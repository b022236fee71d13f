// SPDX-License-Identifier: Apache-2.0
/* Writes numbers as bytes into a buffer.  The functions that read them are inline, in the header,
 * because decoders spend much of their time in them. */
#include "base/varint.h"

void rd_varint_put(struct rd_buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		rd_buf_addc(out, (char)(v | 0x80));
	rd_buf_addc(out, (char)v);
}
