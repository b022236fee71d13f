// SPDX-License-Identifier: Apache-2.0
/* Records which bytes of an object are defined (epa/defined.h).  There is one bit for each byte.
 * The bits of small objects are stored in a word, and those of larger objects in an array. */
#include "epa/defined.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static size_t words_of(uint64_t size)
{
	return (size_t)(size / 64 + 1);
}

void epa_defined_begin(struct epa_defined *d, uint64_t size, bool whole)
{
	bool many = size > 64 && size <= EPA_DEFINED_MAX && !whole;
	if (d->many && (!many || d->size != size))
		epa_defined_release(d);
	if (many && d->many)
		memset(d->many, 0, words_of(size) * sizeof *d->many);
	else if (many)
		d->many = rd_xcalloc(words_of(size), sizeof *d->many);
	d->size = size;
	d->few = 0;
	d->whole = whole || size > EPA_DEFINED_MAX;
}

void epa_defined_release(struct epa_defined *d)
{
	free(d->many);
	d->many = NULL;
}

static uint64_t bits(uint64_t count)
{
	return count >= 64 ? ~0ull : (1ull << count) - 1;
}

static void set_word(uint64_t *word, uint64_t mask, uint64_t except)
{
	*word = (*word | mask) & ~(except & mask);
}

void epa_defined_set(struct epa_defined *d, uint64_t offset, uint64_t size, uint64_t except)
{
	if (d->whole || offset >= d->size)
		return;
	if (size > d->size - offset)
		size = d->size - offset;
	if (!d->many) {
		set_word(&d->few, bits(size) << offset, except << offset);
		return;
	}
	for (uint64_t done = 0; done < size;) {
		uint64_t at = offset + done, low = at % 64,
			 n = 64 - low < size - done ? 64 - low : size - done;
		set_word(&d->many[at / 64], bits(n) << low, done < 64 ? except >> done << low : 0);
		done += n;
	}
}

uint8_t epa_defined_without(const struct epa_defined *d, uint64_t offset, uint64_t size)
{
	uint64_t word;
	RD_ASSERT(size <= 8);
	if (d->whole || offset >= d->size || size > d->size - offset)
		return 0;
	if (!d->many) {
		word = d->few >> offset;
	} else {
		word = d->many[offset / 64] >> offset % 64;
		if (offset % 64 + size > 64)
			word |= d->many[offset / 64 + 1] << (64 - offset % 64);
	}
	return (uint8_t)(~word & bits(size));
}

void epa_parts_set(struct epa_parts *p, uint64_t object, uint64_t offset, uint64_t size, uint8_t which)
{
	RD_ASSERT(size <= 8);
	if (!p->any && !which)
		return;
	if (!p->any)
		epa_defined_begin(&p->bits, object, false);
	p->any = true;
	epa_defined_set(&p->bits, offset, size, (uint8_t)~which);
}
