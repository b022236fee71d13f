// SPDX-License-Identifier: Apache-2.0
/* Unit tests of epa/defined.h: which bytes have a value.  The twin is an array of flags. */
#include "epa/defined.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

static uint32_t seed = 3;

static uint32_t rnd(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static void agrees_with_flags(void **state)
{
	struct epa_defined d = {0};
	static bool twin[1000];
	(void)state;
	for (unsigned object = 0; object < 300; object++) {
		uint64_t size = rnd(3) ? 1 + rnd(64) : 65 + rnd(900);
		epa_defined_begin(&d, size, false);
		memset(twin, 0, sizeof twin);
		for (unsigned i = 0; i < 200; i++) {
			uint64_t offset = rnd((uint32_t)size), n = 1 + rnd(rnd(4) ? 8 : 200);
			uint64_t except = rnd(3) ? 0 : (uint64_t)rnd(1u << 24) << rnd(40);
			epa_defined_set(&d, offset, n, except);
			for (uint64_t k = 0; k < n && offset + k < size; k++)
				twin[offset + k] = !(k < 64 && except >> k & 1);
			offset = rnd((uint32_t)size);
			n = 1 + rnd(8);
			uint8_t expected = 0;
			for (uint64_t k = 0; k < n && offset + n <= size; k++)
				expected |= (uint8_t)(!twin[offset + k] << k);
			assert_int_equal(epa_defined_without(&d, offset, n), expected);
		}
	}
	epa_defined_begin(&d, 100, true);
	assert_int_equal(epa_defined_without(&d, 50, 8), 0);
	epa_defined_begin(&d, 100, false);
	assert_int_equal(epa_defined_without(&d, 50, 8), 0xff);
	epa_defined_release(&d);
}

/* Tests every range of up to eight bytes in objects of 1 to 200 bytes.  The last ranges end with
 * the object. */
static void every_range_of_every_size(void **state)
{
	struct epa_defined d = {0};
	(void)state;
	for (uint64_t size = 1; size <= 200; size++) {
		epa_defined_begin(&d, size, false);
		for (uint64_t k = 0; k < size; k += 3)
			epa_defined_set(&d, k, 1, 0);
		for (uint64_t offset = 0; offset < size; offset++)
			for (uint64_t n = 1; n <= 8 && offset + n <= size; n++) {
				uint8_t expected = 0;
				for (uint64_t k = 0; k < n; k++)
					expected |= (uint8_t)(((offset + k) % 3 != 0) << k);
				assert_int_equal(epa_defined_without(&d, offset, n), expected);
			}
	}
	epa_defined_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_flags),
					   cmocka_unit_test(every_range_of_every_size)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
