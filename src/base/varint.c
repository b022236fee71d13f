// SPDX-License-Identifier: Apache-2.0
/* Numbers as bytes, into a buffer.  Reading them is in the header, since decoders spend their time
 * there. */
#include "base/varint.h"

void rd_varint_put(struct rd_buf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		rd_buf_addc(out, (char)(v | 0x80));
	rd_buf_addc(out, (char)v);
}
