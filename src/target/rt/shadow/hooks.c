// SPDX-License-Identifier: Apache-2.0
/*
 * The functions that instrumented code calls where a value is not concrete (raddle/shadow.h).
 */
#include "rt/shadow/shadow.h"

/* Returns the expression of an operand, or a constant if the operand is concrete. */
static uint32_t operand(uint32_t e, uint64_t value, uint32_t bits)
{
	return e ? e : rt_expr_const(value, bits);
}

/* Returns `e`, or 0 if the node is a constant, since its value is then concrete. */
static uint32_t unless_const(uint32_t e)
{
	uint64_t k;

	return e && rt_expr_is_const(e, &k) ? 0 : e;
}

/* Call this before changing the store.  Returns false if no input is followed, so that every value
 * is concrete. */
static bool enter(void)
{
	if (!rt_shadow_is_on())
		return false;
	rt_shadow_enter();
	return true;
}

static uint32_t leave_with(uint32_t e)
{
	rt_shadow_leave();
	return unless_const(e);
}

RT_EXPORT uint32_t __raddle_shadow_bin(uint32_t what, uint32_t ea, uint32_t eb, uint64_t a, uint64_t b)
{
	uint32_t bits = what & 0xff, e;

	if (!enter())
		return 0;
	e = rt_expr_binary(what >> 8, operand(ea, a, bits), operand(eb, b, bits));
	return leave_with(e);
}

/* Computes a + i * size, where the index i is sign-extended. */
RT_EXPORT uint32_t __raddle_shadow_index(uint64_t what, uint32_t ea, uint32_t ei, uint64_t a, uint64_t i)
{
	uint32_t bits = what & 0xff, e;

	if (!enter())
		return 0;
	e = rt_expr_sext(operand(ei, i, bits), 64);
	e = rt_expr_binary(RADDLE_EXPR_MUL, e, rt_expr_const(what >> 8, 64));
	e = rt_expr_binary(RADDLE_EXPR_ADD, operand(ea, a, 64), e);
	return leave_with(e);
}

/* `what` is op << 8 | bits, the operator and the width of the result. */
RT_EXPORT uint32_t __raddle_shadow_cast(uint32_t what, uint32_t e, uint32_t from)
{
	uint32_t bits = what & 0xff, made;

	(void)from;
	if (!enter())
		return 0;
	switch (what >> 8) {
	case RADDLE_EXPR_ZEXT: made = rt_expr_zext(e, bits); break;
	case RADDLE_EXPR_SEXT: made = rt_expr_sext(e, bits); break;
	default: made = rt_expr_extract(e, 0, bits);
	}
	return leave_with(made);
}

RT_EXPORT uint32_t __raddle_shadow_choose(uint32_t what, uint32_t ec, uint64_t refs, uint64_t a, uint64_t b)
{
	uint32_t bits = what & 0xff, e;

	if (!enter())
		return 0;
	e = rt_expr_ite(ec, operand((uint32_t)(refs >> 32), a, bits), operand((uint32_t)refs, b, bits));
	return leave_with(e);
}

/* ---- accesses ---- */

/* Called for an address that depends on input.  Adds a step to the path, which states that the
 * address has the value that it has in this run. */
static void settle(uint32_t ea, uintptr_t a)
{
	rt_path_lose(RADDLE_LOST_ADDRESS);
	rt_path_step(RADDLE_STEP_ADDRESS, 0, rt_expr_binary(RADDLE_EXPR_EQ, ea, rt_expr_const(a, 64)), 1);
}

/* If one input byte determines the address of a load, the load is represented by a table of the
 * values that it would load for each of the 256 byte values.  This is done only if the addresses
 * span at most REACH bytes and are all readable, and the values there do not depend on input. */
#define REACH 2048

/* Returns true if all addresses are near each other and can be read. */
static bool is_near(uintptr_t a, uint32_t size, uint32_t ea, uint32_t var)
{
	uintptr_t low = a, high = a;

	for (uint32_t i = 0; i < 256; i++) {
		uintptr_t from = rt_expr_with_byte(ea, var, (uint8_t)i);

		low = from < low ? from : low;
		high = from > high ? from : high;
	}
	return high - low <= REACH &&
	       __raddle_readable((const char *)low, 0, high - low + size) == high - low + size;
}

/* Returns the number of a table with this content.  Tables with equal content are stored once. */
static uint32_t number_of_table(const uint64_t *table)
{
	struct raddle_shadow *s = rt_shadow.shared;
	uint32_t n = s->table_count;

	for (uint32_t i = 0; i < n; i++)
		if (!__builtin_memcmp(rt_shadow.tables + (size_t)i * 256, table, 256 * sizeof *table))
			return i;
	if (n >= RADDLE_SHADOW_TABLES)
		return UINT32_MAX;
	__builtin_memcpy(rt_shadow.tables + (size_t)n * 256, table, 256 * sizeof *table);
	s->table_count = n + 1;
	return n;
}

static uint32_t read_table(uintptr_t a, uint32_t size, uint32_t ea, uint32_t var)
{
	uint64_t table[256] = {0};
	uint32_t n;

	if (!is_near(a, size, ea, var))
		return 0;
	for (uint32_t i = 0; i < 256; i++) {
		uintptr_t from = rt_expr_with_byte(ea, var, (uint8_t)i);

		if (unless_const(rt_memory_load(from, size)))
			return 0;
		__builtin_memcpy(&table[i], (const void *)from, size);
	}
	n = number_of_table(table);
	return n == UINT32_MAX ? 0 : rt_expr_table(var, n, size * 8);
}

RT_EXPORT uint32_t __raddle_shadow_read(const void *p, uint32_t size, uint32_t ea)
{
	uintptr_t a = (uintptr_t)p;
	uint32_t e = 0, var;

	if (!rt_shadow_is_on())
		return 0;
	rt_shadow_enter();
	var = ea ? rt_expr_only_byte(ea) : 0;
	if (var)
		e = read_table(a, size, ea, var);
	if (ea && !e)
		settle(ea, a);
	if (!e)
		e = rt_memory_load(a, size);
	rt_shadow_leave();
	return unless_const(e);
}

RT_EXPORT void __raddle_shadow_write(void *p, uint32_t size, uint32_t e, uint32_t ea)
{
	if (!rt_shadow_is_on())
		return;
	rt_shadow_enter();
	if (ea)
		settle(ea, (uintptr_t)p);
	rt_memory_store((uintptr_t)p, size, e);
	rt_shadow_leave();
}

/* The largest extent that is examined, in bytes.  A larger one would take too long. */
#define EXTENT_MAX (1ull << 30)

RT_EXPORT uint32_t __raddle_shadow_extent(const void *p, uint64_t rounds, int64_t by, uint32_t what)
{
	uint64_t way, step = by < 0 ? 0 - (uint64_t)by : (uint64_t)by;
	uintptr_t low = (uintptr_t)p, limit = 1ull << RADDLE_SHADOW_ADDRESS_BITS;

	if (__builtin_mul_overflow(rounds - 1, step, &way) || way > EXTENT_MAX || (by < 0 && way > low))
		return 1;
	low -= by < 0 ? way : 0;
	if (low >= limit || limit - low < way + (what & 0xff))
		return 1;
	return rt_memory_any(low, way + (what & 0xff));
}

RT_EXPORT void __raddle_shadow_copied(void *to, const void *from, uint64_t size)
{
	if (!rt_shadow_is_on() || !size)
		return;
	rt_shadow_enter();
	rt_memory_copy((uintptr_t)to, (uintptr_t)from, size);
	rt_shadow_leave();
}

RT_EXPORT void __raddle_shadow_filled(void *p, uint32_t e, uint64_t size)
{
	if (!rt_shadow_is_on() || !size)
		return;
	rt_shadow_enter();
	if (!e)
		rt_memory_clear((uintptr_t)p, size);
	for (uint64_t i = 0; i < size && e; i++)
		rt_memory_set_byte((uintptr_t)p + i, e);
	rt_shadow_leave();
}

RT_EXPORT void __raddle_shadow_fresh(const void *p, uint64_t size)
{
	if (p)
		__raddle_shadow_filled((void *)p, 0, size);
}

RT_EXPORT void __raddle_shadow_lose(uint32_t loss)
{
	rt_path_lose((enum raddle_shadow_loss)loss);
}

/* ---- branches ---- */

RT_EXPORT void __raddle_shadow_turn(uint32_t site, uint32_t cond, uint32_t taken)
{
	if (!rt_shadow_is_on())
		return;
	rt_shadow_enter();
	rt_path_step(RADDLE_STEP_BRANCH, site, cond, taken);
	rt_shadow_leave();
}

/* Cases that were not taken are listed first, so that the driver can try each of them
 * separately. */
RT_EXPORT void __raddle_shadow_cases(uint32_t what, uint32_t site, uint32_t e, uint64_t v,
				     const uint64_t *cases)
{
	uint32_t bits = what & 0xff, taken = UINT32_MAX;

	if (!rt_shadow_is_on())
		return;
	rt_shadow_enter();
	for (uint32_t i = 0; i < what >> 8; i++) {
		if (cases[i] == v) {
			taken = i;
			continue;
		}
		rt_path_step(RADDLE_STEP_BRANCH, site + i + 1,
			     rt_expr_binary(RADDLE_EXPR_EQ, e, rt_expr_const(cases[i], bits)), 0);
	}
	if (taken != UINT32_MAX)
		rt_path_step(RADDLE_STEP_BRANCH, site + taken + 1,
			     rt_expr_binary(RADDLE_EXPR_EQ, e, rt_expr_const(v, bits)), 1);
	rt_shadow_leave();
}
