// SPDX-License-Identifier: Apache-2.0
/*
 * Decodes any bytes as the records of one chunk, without checksums and compression.  The fast
 * decoder and the general one must agree on every event.
 */
#include "trace/decode.h"

#include <stdlib.h>
#include <string.h>

static void agree(int condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_decoder fast = {0}, slow = {0};
	struct trace_event a, b;
	trace_decoder_start(&fast, data, size);
	trace_decoder_start(&slow, data, size);
	for (;;) {
		int x = trace_decode(&fast, &a);
		int y = trace_decode_slow(&slow, &b);
		agree(x == y && fast.p == slow.p && fast.depth == slow.depth);
		if (x <= 0)
			break;
		agree(a.kind == b.kind && a.site == b.site && a.address == b.address && a.size == b.size);
		if (a.kind != RADDLE_ACCESS)
			agree(a.q == b.q && a.t == b.t && a.length == b.length);
	}
	trace_decoder_release(&fast);
	trace_decoder_release(&slow);
	return 0;
}
