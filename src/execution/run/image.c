// SPDX-License-Identifier: Apache-2.0
/*
 * Images of a session's memory.  An image is taken of a session, and later restores the session's
 * earlier content.
 *
 * The memory is a sparse file, most of which is not in use.  Only the parts in use, which the
 * kernel reports (SEEK_DATA), are kept and restored.  Pages are overwritten rather than given
 * back, because the next run would have to allocate them again.
 */
#include "run/image.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Finds the next part in use at or after `from`.  Returns false if there is none. */
static bool next_in_use(const struct run_session *s, size_t from, struct run_range *range)
{
	off_t start = from < s->size ? lseek(s->fd, (off_t)from, SEEK_DATA) : -1, end;

	if (start < 0 || (size_t)start >= s->size)
		return false;
	end = lseek(s->fd, start, SEEK_HOLE);
	if (end < start || (size_t)end > s->size)
		end = (off_t)s->size;
	*range = (struct run_range){(size_t)start, (size_t)(end - start)};
	return true;
}

static blkcnt_t blocks_of(const struct run_session *s)
{
	struct stat st;

	return fstat(s->fd, &st) ? -1 : st.st_blocks;
}

int run_image_take(struct run_image *image, const struct run_session *session)
{
	struct run_range r = {0, 0};

	*image = (struct run_image){.blocks = blocks_of(session)};
	while (next_in_use(session, r.at + r.length, &r)) {
		RD_GROW(image->kept, image->kept_capacity, image->kept_count + 1);
		RD_GROW(image->content, image->content_capacity, image->kept_count + 1);
		image->kept[image->kept_count] = r;
		image->content[image->kept_count] = malloc(r.length);
		if (!image->content[image->kept_count])
			return rd_fail(RD_ENOMEM, "no memory to keep %zu bytes of a stopped program",
				       r.length);
		memcpy(image->content[image->kept_count++], (char *)session->shared + r.at, r.length);
	}
	return 0;
}

static void add_later(struct run_image *image, size_t at, size_t end)
{
	if (at >= end)
		return;
	RD_GROW(image->later, image->later_capacity, image->later_count + 1);
	image->later[image->later_count++] = (struct run_range){at, end - at};
}

/* Adds the parts of a range that the image does not contain. */
static void add_missing(struct run_image *image, struct run_range r)
{
	size_t at = r.at, end = r.at + r.length;

	for (size_t i = 0; i < image->kept_count && at < end; i++) {
		const struct run_range *k = &image->kept[i];

		if (k->at + k->length <= at || k->at >= end)
			continue;
		add_later(image, at, k->at);
		at = k->at + k->length;
	}
	add_later(image, at, end);
}

/* Determines which parts have come into use since the image was taken. */
static void find_later(struct run_image *image, const struct run_session *s)
{
	struct run_range r = {0, 0};
	blkcnt_t blocks = blocks_of(s);

	if (blocks == image->blocks)
		return;
	image->blocks = blocks;
	image->later_count = 0;
	while (next_in_use(s, r.at + r.length, &r))
		add_missing(image, r);
}

void run_image_restore(struct run_image *image, const struct run_session *session)
{
	char *memory = (char *)session->shared;

	find_later(image, session);
	for (size_t i = 0; i < image->kept_count; i++) {
		RD_ASSERT(image->kept[i].at + image->kept[i].length <= session->size);
		memcpy(memory + image->kept[i].at, image->content[i], image->kept[i].length);
	}
	for (size_t i = 0; i < image->later_count; i++)
		memset(memory + image->later[i].at, 0, image->later[i].length);
}

void run_image_release(struct run_image *image)
{
	for (size_t i = 0; i < image->kept_count; i++)
		free(image->content[i]);
	RD_FREE(image->kept, image->content, image->later);
	*image = (struct run_image){0};
}
