/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An image: the content of a session's memory at one moment, which can be restored.  A program that
 * is frozen for copies (rt/steer/freeze.c) uses the same memory in each run.
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
	char **content;		/* by range */
	size_t kept_count, kept_capacity, content_capacity;
	struct run_range *later; /* ranges that came into use later */
	size_t later_count, later_capacity;
	blkcnt_t blocks; /* the memory in use when `later` was determined */
};

/* Keeps what the memory contains.  Release the image even after a failure. */
int run_image_take(struct run_image *image, const struct run_session *session);
void run_image_restore(struct run_image *image, const struct run_session *session);
void run_image_release(struct run_image *image);

#endif
