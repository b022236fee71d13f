// SPDX-License-Identifier: Apache-2.0
/*
 * What runs wrote.  In: the output of runs.  Out: its lines, digests by which runs are compared,
 * and the lines that are left out of the comparison.
 */
#include "base/error.h"
#include "trial/trial.h"

#include <string.h>
#include <xxhash.h>

bool trial_next_line(const struct trial_text *t, size_t *at, struct trial_text *line)
{
	const char *end;

	if (*at >= t->length)
		return false;
	end = memchr(t->data + *at, '\n', t->length - *at);
	line->data = t->data + *at;
	line->length = end ? (size_t)(end - line->data) + 1 : t->length - *at;
	*at += line->length;
	RD_ASSERT(line->length > 0 && *at <= t->length);
	return true;
}

bool trial_is_masked(const struct trial_mask *mask, int stream, size_t number)
{
	RD_ASSERT(stream >= 0 && stream < TRIAL_STREAMS);
	return mask->all[stream] || (number < TRIAL_LINES && mask->line[stream][number]);
}

/* Updates two digests: the first depends on the order of the lines, the second does not. */
static void digest_text(const struct trial_text *t, const struct trial_mask *mask, int stream,
			uint64_t out[2])
{
	struct trial_text line;
	size_t at = 0;

	RD_ASSERT(stream >= 0 && stream < TRIAL_STREAMS);
	out[0] = out[1] = (uint64_t)stream;
	for (size_t n = 0; trial_next_line(t, &at, &line); n++) {
		uint64_t hash = trial_is_masked(mask, stream, n) ? 1 : XXH64(line.data, line.length, 1);

		out[0] = XXH64(&hash, sizeof hash, out[0]);
		out[1] += hash;
	}
	if (mask->all[stream])
		out[0] = out[1] = 0;
}

void trial_digest(struct trial *t, const struct trial_mask *mask)
{
	uint64_t texts[2], all[2][2 + TRIAL_STREAMS];

	for (int i = 0; i < 2; i++) {
		all[i][TRIAL_STREAMS] = t->end;
		all[i][TRIAL_STREAMS + 1] = (uint64_t)t->status;
	}
	for (int i = 0; i < TRIAL_STREAMS; i++) {
		digest_text(&t->text[i], mask, i, texts);
		all[0][i] = texts[0];
		all[1][i] = texts[1];
	}
	t->digest = XXH64(all[0], sizeof all[0], 0);
	t->sorted_digest = XXH64(all[1], sizeof all[1], 0);
}

static void learn_stream(struct trial_mask *mask, int stream, const struct trial_text *a,
			 const struct trial_text *b)
{
	struct trial_text x, y;
	size_t i = 0, k = 0, n = 0;
	bool has_x, has_y;

	for (;; n++) {
		has_x = trial_next_line(a, &i, &x);
		has_y = trial_next_line(b, &k, &y);
		if (!has_x || !has_y)
			break;
		if (x.length == y.length && !memcmp(x.data, y.data, x.length))
			continue;
		mask->any = true;
		if (n < TRIAL_LINES)
			mask->line[stream][n] = true;
		else
			mask->all[stream] = true;
	}
	mask->all[stream] |= has_x != has_y;
	mask->any |= has_x != has_y;
}

void trial_mask_learn(struct trial_mask *mask, const struct trial *a, const struct trial *b)
{
	for (int i = 0; i < TRIAL_STREAMS; i++)
		learn_stream(mask, i, &a->text[i], &b->text[i]);
}
