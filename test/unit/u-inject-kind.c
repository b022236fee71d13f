// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the table of faults: at which sites a kind can happen, what is drawn for it, and
 * whether random numbers are the same on every machine.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/error.h"
#include "inject/kind.h"
#include "inject/fault-model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t kind(const char *name)
{
	int found = inject_kind_find(name, strlen(name));

	assert_true(found >= 0);
	return (size_t)found;
}

static struct trace_site site(enum trace_site_kind what, const char *callee, int argument, const char *type)
{
	return (struct trace_site){.kind = (uint8_t)what,
				   .what = callee,
				   .argument = (uint8_t)argument,
				   .type = type,
				   .size = 8,
				   .function = "f"};
}

static bool fits(const char *name, struct trace_site s)
{
	return inject_kind_fits(kind(name), &s) != NULL;
}

/* The kinds of table II of the paper happen at the right sites. */
static void paper(void **state)
{
	(void)state;
	assert_true(fits("BitFlip", site(TRACE_SITE_VALUE, "add", 0, "i64")));
	assert_true(fits("BitFlip", site(TRACE_SITE_READ, "x", 0, "int")));
	assert_true(fits("BitFlip", site(TRACE_SITE_RESULT, "f", 0, "i64")));
	assert_true(fits("BitFlip", site(TRACE_SITE_ARGUMENT, "f", 3, "i64")));
	assert_false(fits("BitFlip", site(TRACE_SITE_WRITE, "x", 0, "int")));
	assert_false(fits("BitFlip", site(TRACE_SITE_PREVENTABLE, "malloc", 0, "-")));
	assert_true(fits("FileSize", site(TRACE_SITE_ARGUMENT, "fread", 1, "i64")));
	assert_true(fits("FileSize", site(TRACE_SITE_ARGUMENT, "fwrite", 2, "i64")));
	assert_false(fits("FileSize", site(TRACE_SITE_ARGUMENT, "fwrite", 0, "ptr")));
	assert_false(fits("FileSize", site(TRACE_SITE_ARGUMENT, "fwritev", 1, "i64")));
	assert_true(fits("MallSize", site(TRACE_SITE_ARGUMENT, "malloc", 0, "i64")));
	assert_true(fits("MallSize", site(TRACE_SITE_ARGUMENT, "calloc", 1, "i64")));
	assert_false(fits("MallSize", site(TRACE_SITE_ARGUMENT, "realloc", 1, "i64")));
	assert_true(fits("CallCorr", site(TRACE_SITE_ARGUMENT, "g", 0, "i64")));
	assert_false(fits("CallCorr", site(TRACE_SITE_ARGUMENT, "g", 1, "i64")));
	assert_true(fits("InvalPtr", site(TRACE_SITE_RESULT, "calloc", 0, "ptr")));
	assert_false(fits("InvalPtr", site(TRACE_SITE_RESULT, "realloc", 0, "ptr")));
}

static void lists(void **state)
{
	bool *set = calloc(inject_kind_count(), sizeof *set);
	size_t count = 0;

	(void)state;
	rd_log_set(rd_log_discard, NULL);
	assert_int_equal(inject_kind_parse("bitflip,lock", set), 0);
	assert_true(set[kind("BitFlip")] && set[kind("NoUnlock")] && !set[kind("MallSize")]);
	assert_int_equal(inject_kind_parse("all", set), 0);
	for (size_t i = 0; i < inject_kind_count(); i++)
		count += set[i];
	assert_int_equal(count, inject_kind_count());
	assert_int_equal(inject_kind_parse("BitFlip,Nothing", set), RD_EUSAGE);
	assert_int_equal(inject_kind_parse("", set), RD_EUSAGE);
	free(set);
}

static void widths(void **state)
{
	struct trace_site s = site(TRACE_SITE_VALUE, "icmp", 0, "i1");

	(void)state;
	s.size = 1;
	assert_int_equal(inject_width(&s), 1);
	s.type = "i24";
	s.size = 4;
	assert_int_equal(inject_width(&s), 24);
	s.type = "ptr";
	s.size = 8;
	assert_int_equal(inject_width(&s), 64);
	s.kind = TRACE_SITE_READ;
	s.type = "i1_t"; /* a name in the source, not an LLVM type */
	s.size = 4;
	assert_int_equal(inject_width(&s), 32);
}

/* A mask has the requested number of bits, and none beyond the value. */
static void bits(void **state)
{
	struct trace_site s = site(TRACE_SITE_VALUE, "add", 0, "i64");
	struct rd_random random = rd_random_of(1, 2);
	uint64_t seen = 0;

	(void)state;
	for (unsigned width = 1; width <= 64; width++)
		for (unsigned count = 0; count <= width + 2; count++) {
			struct inject_bits how = {width, count, -1};
			struct run_fault f = {0};
			unsigned expected = count == 0 ? 1 : count > width ? width : count;

			inject_kind_draw(kind("BitFlip"), inject_kind_fits(kind("BitFlip"), &s), &how,
					 &random, &f);
			assert_int_equal(__builtin_popcountll(f.mask[0]), expected);
			assert_true(width == 64 || f.mask[0] >> width == 0);
			assert_true(f.action == RADDLE_FAULT_FLIP && f.repeat == 1);
		}
	for (int i = 0; i < 5000; i++) {
		struct inject_bits how = {64, 2, 5};
		struct run_fault f = {0};

		inject_kind_draw(kind("StuckAt0"), inject_kind_fits(kind("StuckAt0"), &s), &how, &random, &f);
		assert_true(f.mask[0] & 1 << 5);
		assert_true(f.action == RADDLE_FAULT_CLEAR && f.repeat == 0);
		seen |= f.mask[0];
	}
	assert_true(seen == ~0ull);
}

static uint64_t changed(const struct run_fault *f, uint64_t v)
{
	return f->action == RADDLE_FAULT_SCALE ? v * f->mask[0] / f->mask[1] : v + f->mask[0];
}

static void sizes(void **state)
{
	struct trace_site size = site(TRACE_SITE_ARGUMENT, "malloc", 0, "i64"),
			  file = site(TRACE_SITE_ARGUMENT, "fread", 2, "i64");
	struct rd_random random = rd_random_of(7, 7);
	struct inject_bits how = {64, 0, -1};

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct run_fault f = {0};

		inject_kind_draw(kind("MallSize"), inject_kind_fits(kind("MallSize"), &size), &how, &random,
				 &f);
		assert_true(changed(&f, 1) < 1 && changed(&f, 4096) < 4096);
		inject_kind_draw(kind("FileSize"), inject_kind_fits(kind("FileSize"), &file), &how, &random,
				 &f);
		assert_true(changed(&f, 1) > 1 && changed(&f, 4096) > 4096);
	}
}

static void calls(void **state)
{
	struct trace_site s = site(TRACE_SITE_PREVENTABLE, "write", 0, "-");
	struct rd_random random = rd_random_of(7, 7);
	struct inject_bits how = {64, 0, -1};
	struct run_fault f = {0};

	(void)state;
	inject_kind_draw(kind("DiskFull"), inject_kind_fits(kind("DiskFull"), &s), &how, &random, &f);
	assert_true(f.action == RADDLE_FAULT_CALL && f.mask[0] == UINT64_MAX && f.mask[1] == ENOSPC);
	s.what = "fwrite";
	inject_kind_draw(kind("WriteError"), inject_kind_fits(kind("WriteError"), &s), &how, &random, &f);
	assert_true(f.mask[0] == 0 && f.mask[1] == EIO);
	s.what = "pthread_create";
	inject_kind_draw(kind("ThreadFail"), inject_kind_fits(kind("ThreadFail"), &s), &how, &random, &f);
	assert_true(f.mask[0] == EAGAIN && f.mask[1] == 0);
	assert_null(inject_kind_fits(kind("DiskFull"), &s));
}

/* Random numbers are the same on every machine, and uniformly distributed. */
static void numbers(void **state)
{
	struct rd_random a = rd_random_of(1, 0), b = rd_random_of(1, 0), c = rd_random_of(1, 1);
	unsigned count[10] = {0};

	(void)state;
	assert_true(rd_random_next(&a) == rd_random_next(&b));
	assert_true(rd_random_next(&a) != rd_random_next(&c));
	for (uint64_t run = 0; run < 100000; run++) {
		struct rd_random r = rd_random_of(12345, run);
		uint64_t n = rd_random_below(&r, 10);
		assert_true(n < 10);
		count[n]++;
	}
	for (int i = 0; i < 10; i++)
		assert_in_range(count[i], 9500, 10500);
}

/* Faults in operands and memory: the address of a load has 64 bits, and the memory there has those
 * of its type. */
static void places(void **state)
{
	struct trace_site load = site(TRACE_SITE_OPERAND, "load", 0, "i16"),
			  store = site(TRACE_SITE_OPERAND, "store", 1, "i8"),
			  value = site(TRACE_SITE_OPERAND, "store", 0, "i8"),
			  read = site(TRACE_SITE_READ, "list->head", 0, "struct node *");

	(void)state;
	value.size = 1;
	assert_true(fits("MemFlip", load) && !fits("MemFlip", store));
	assert_true(fits("NoInstr", store) && !fits("NoInstr", value) && !fits("NoInstr", load));
	assert_true(fits("SrcFlip", load) && fits("SrcFlip", store) && fits("SrcFlip", value));
	assert_int_equal(inject_width(&load), 64);
	assert_int_equal(inject_width_there(&load), 16);
	assert_int_equal(inject_width(&store), 64);
	assert_int_equal(inject_width(&value), 8);
	assert_true(fits("StalePtr", read));
	read.type = "long";
	assert_false(fits("StalePtr", read));
}

static void models(void **state)
{
	static const char text
		[] = "fault Own at load,x do flip\n",
	    good[] =
		    "# comment\n\n fault Own at load in f,g type ptr,i64 do add -3 when times 4 chance 0.25\n"
		    "fault Other at call of close do fail -1 EBADF # why\n";
	struct trace_site s = site(TRACE_SITE_READ, "v", 0, "long");
	struct inject_bits how = {64, 0, -1};
	struct rd_random random = rd_random_of(1, 0);
	struct inject_fault_models m = {0};
	struct run_fault f = {0};
	unsigned struck = 0;

	(void)state;
	assert_int_equal(inject_fault_models_parse(&m, text, sizeof text - 1, "text"), RD_EFORMAT);
	inject_fault_models_release(&m);
	assert_int_equal(inject_fault_models_parse(&m, good, sizeof good - 1, "good"), 0);
	assert_int_equal(inject_fault_models_use(&m), 0);
	/* models with these names exist already */
	assert_int_equal(inject_fault_models_use(&m), RD_EUSAGE);
	assert_true(fits("own", s));
	s.function = "h";
	assert_false(fits("Own", s));
	s.function = "g";
	inject_kind_draw(kind("Own"), inject_kind_fits(kind("Own"), &s), &how, &random, &f);
	assert_true(f.action == RADDLE_FAULT_ADD && f.mask[0] == (uint64_t)-3 && f.repeat == 4);
	assert_int_equal((uint32_t)f.chance, 1u << 30);
	for (uint64_t i = 0; i < 100000; i++)
		struck += (unsigned)raddle_fault_happens(f.chance, i);
	assert_in_range(struck, 24000, 26000);
	s = site(TRACE_SITE_PREVENTABLE, "close", 0, "-");
	inject_kind_draw(kind("Other"), inject_kind_fits(kind("Other"), &s), &how, &random, &f);
	assert_true(f.action == RADDLE_FAULT_CALL && f.mask[0] == UINT64_MAX && f.mask[1] == EBADF &&
		    !f.chance);
	inject_fault_models_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paper),   cmocka_unit_test(lists),  cmocka_unit_test(widths),
		cmocka_unit_test(bits),	   cmocka_unit_test(sizes),  cmocka_unit_test(calls),
		cmocka_unit_test(numbers), cmocka_unit_test(places), cmocka_unit_test(models),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
