/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An image is the content of a session's memory at one moment, which can be restored.  It is
 * needed because the copies of a frozen program (rt/steer/freeze.c) use the same memory in each
 * run.
 */
#ifndef RUN_IMAGE_H
#define RUN_IMAGE_H

#include "run/session.h"

#include <stddef.h>
#include <sys/types.h>

/* Bytes [at, at + length) of the memory. */
struct run_range {
	size_t at, length;
};

struct run_image {		/* zeroed if no image was taken */
	struct run_range *kept; /* the ranges whose content is kept; everything else was zero */
	char **content;		/* the content of each range in `kept` */
	size_t kept_count, kept_capacity, content_capacity;
	struct run_range *later; /* the ranges that came into use after the image was taken */
	size_t later_count, later_capacity;
	blkcnt_t blocks; /* the number of blocks in use when `later` was determined */
};

/* Stores a copy of the memory in use.  Release the image even after a failure. */
int run_image_take(struct run_image *image, const struct run_session *session);
void run_image_restore(struct run_image *image, const struct run_session *session);
void run_image_release(struct run_image *image);

#endif
