/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests which bytes a comparison of two strings reads, according to the runtime.  The reference is
 * a loop over the bytes.  The strings have many lengths and all alignments.  They may be equal or
 * different, with or without a length limit, and may lie at the end of readable memory.
 */
#include "rt/core/memory/string.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <sys/mman.h>

static const char *read_at;
static uint64_t read_size;

void __raddle_read_range(struct raddle_self *self, const void *p, uint32_t site, uint64_t size)
{
	(void)self;
	assert_int_equal(site, 7);
	read_at = p;
	read_size = size;
}

void __raddle_write_range(struct raddle_self *self, const void *p, uint32_t site, uint64_t size)
{
	__raddle_read_range(self, p, site, size);
}

static uint64_t slowly(const char *p, const char *other, uint64_t max)
{
	uint64_t n = 0;

	while (n < max - 1 && p[n] == other[n] && p[n] != '\0')
		n++;
	return n + 1;
}

/* Returns the end of a page after which memory cannot be read. */
static char *end_of_page(void)
{
	char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(page, MAP_FAILED);
	assert_int_equal(mprotect(page + PAGE, PAGE, PROT_NONE), 0);
	return page + PAGE;
}

static void fill(char *p, size_t length)
{
	static const char bytes[] = {'a', 'b', (char)0x80, (char)0x81, 1, 'a', 'a', 'a'};

	for (size_t i = 0; i < length; i++)
		p[i] = bytes[rand() % sizeof bytes];
	p[length] = '\0';
}

static void test_common(void **state)
{
	char *first = end_of_page(), *second = end_of_page();

	(void)state;
	for (int round = 0; round < 200000; round++) {
		size_t length = (size_t)(rand() % 30), gap = rand() % 3 ? (size_t)(rand() % 20) : 0;
		char *p = first - length - 1 - gap, *other = second - length - 1 - (size_t)(rand() % 20);
		uint64_t max = rand() % 2 ? UINT64_MAX : (uint64_t)(rand() % 40);

		fill(p, length);
		strcpy(other, p);
		if (rand() % 3 && length)
			other[rand() % length] = (char)(rand() % 4);
		read_size = 0;
		__raddle_read_common(NULL, p, other, 7, max);
		if (max == 0) {
			assert_int_equal(read_size, 0);
			continue;
		}
		assert_ptr_equal(read_at, p);
		assert_int_equal(read_size, slowly(p, other, max));
	}
	munmap(first - PAGE, 2 * PAGE);
	munmap(second - PAGE, 2 * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_common)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
