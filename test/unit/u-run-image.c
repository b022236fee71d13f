// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of run/image.h.  After any changes, a restored session has the content of the image.
 * The slow twin keeps a copy of every byte.
 */
#include "run/image.h"

#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#define PAGE 4096
#define PAGES 64
#define SIZE ((size_t)PAGES * PAGE)

static struct run_session open_memory(void)
{
	struct run_session s = {.size = SIZE, .fd = memfd_create("u-run-image", MFD_CLOEXEC)};

	assert_true(s.fd >= 0);
	assert_int_equal(ftruncate(s.fd, (off_t)SIZE), 0);
	s.shared = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, s.fd, 0);
	assert_ptr_not_equal(s.shared, MAP_FAILED);
	return s;
}

/* Writes a few bytes at random places.  A quarter of them are zero. */
static void scribble(const struct run_session *s, uint64_t *random, int times)
{
	for (int i = 0; i < times; i++) {
		uint64_t r = rd_mixed(*random += RD_RANDOM_STEP);

		((unsigned char *)s->shared)[r % SIZE] = r >> 62 ? (unsigned char)(r >> 32) : 0;
	}
}

static void restores_random_content(void **state)
{
	unsigned char *twin = malloc(SIZE), *read = malloc(SIZE);

	(void)state;
	assert_true(twin && read);
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct run_session s = open_memory();
		struct run_image image;
		uint64_t random = seed;

		scribble(&s, &random, (int)(seed % 40));
		assert_int_equal(pread(s.fd, twin, SIZE, 0), SIZE);
		assert_int_equal(run_image_take(&image, &s), 0);
		for (int round = 0; round < 4; round++) {
			scribble(&s, &random, (int)(seed % 17) * round);
			run_image_restore(&image, &s);
			assert_int_equal(pread(s.fd, read, SIZE, 0), SIZE);
			assert_memory_equal(read, twin, SIZE);
		}
		run_image_release(&image);
		run_session_close(&s);
	}
	free(twin);
	free(read);
}

/* Only the memory in use is kept. */
static void keeps_what_is_used(void **state)
{
	struct run_session s = open_memory();
	struct run_image image;
	size_t kept = 0;

	(void)state;
	((char *)s.shared)[5 * PAGE] = 1;
	((char *)s.shared)[SIZE - 1] = 1;
	assert_int_equal(run_image_take(&image, &s), 0);
	for (size_t i = 0; i < image.kept_count; i++)
		kept += image.kept[i].length;
	assert_int_equal(kept, 2 * PAGE);
	run_image_release(&image);
	run_session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(restores_random_content),
		cmocka_unit_test(keeps_what_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
