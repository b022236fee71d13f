/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the flavour `shadow` on random functions with four numbers as input.  The hooks build
 * expressions in these numbers.  The expressions must describe what the code computes:
 *
 *   - Each branch goes where its expression says, for the numbers of the run.
 *   - If other numbers satisfy all conditions of a run's path, a run with them takes the same path.
 *     The expression of the first run's result then gives the second run's result.
 *   - The result is that of the code without hooks.
 */
#include "base/random.h"
#include "raddle/expr.h"
#include "raddle/shadow.h"
#include "test/unit/instr-jit.h"

enum { INPUTS = 4, REGISTERS = 4, SLOTS = 16, MAX_NODES = 20000, MAX_STEPS = 2000, MAX_SHADOW = 256 };

/* ---- random functions ---- */

struct text {
	struct rd_buf code;
	struct rd_random random;
	int next, budget, loops; /* next free name; remaining statements; depth of loops */
	int loop[2];		 /* names of the loops' counters */
};

static int pick(struct text *t, int n)
{
	return (int)rd_random_below(&t->random, (uint64_t)n);
}

static const int widths[] = {8, 16, 32, 64};

#define SAY(...) rd_buf_addf(&t->code, __VA_ARGS__)

static int say_cast(struct text *t, int value, int from, int to)
{
	int v = t->next++;

	if (from == to)
		SAY("  %%v%d = add i%d %%v%d, 0\n", v, from, value);
	else
		SAY("  %%v%d = %s i%d %%v%d to i%d\n", v,
		    to < from	 ? "trunc"
		    : pick(t, 2) ? "zext"
				 : "sext",
		    from, value, to);
	return v;
}

static int say_value(struct text *t, int bits, int depth);

static int say_leaf(struct text *t, int bits)
{
	int v = t->next++, r = pick(t, REGISTERS);

	if (pick(t, 4) == 0) {
		SAY("  %%v%d = add i%d %d, 0\n", v, bits, pick(t, 100) - 50);
		return v;
	}
	SAY("  %%v%d = load i%d, ptr %%r%d\n", v, widths[r], r);
	return say_cast(t, v, widths[r], bits);
}

static int say_condition(struct text *t, int depth)
{
	static const char *const predicates[] = {"eq",	"ne",  "ult", "ule", "ugt",
						 "uge", "slt", "sle", "sgt", "sge"};
	int bits = widths[pick(t, 4)], a = say_value(t, bits, depth - 1), b = say_value(t, bits, depth - 1);
	int v = t->next++;

	SAY("  %%v%d = icmp %s i%d %%v%d, %%v%d\n", v, predicates[pick(t, 10)], bits, a, b);
	return v;
}

/* Writes a binary operation.  Divisors are 1 to 8, and shifts are less than the width. */
static int say_binary(struct text *t, int bits, int depth)
{
	static const char *const plain[] = {"add", "sub", "mul", "and", "or", "xor"};
	static const char *const divides[] = {"udiv", "sdiv", "urem", "srem"};
	static const char *const shifts[] = {"shl", "lshr", "ashr"};
	int a = say_value(t, bits, depth - 1), b = say_value(t, bits, depth - 1), v, kind = pick(t, 10);

	if (kind < 6) {
		v = t->next++;
		SAY("  %%v%d = %s i%d %%v%d, %%v%d\n", v, plain[kind], bits, a, b);
		return v;
	}
	v = t->next;
	t->next += 3;
	SAY("  %%v%d = and i%d %%v%d, 7\n", v, bits, b);
	SAY("  %%v%d = add i%d %%v%d, %d\n", v + 1, bits, v, kind < 8);
	SAY("  %%v%d = %s i%d %%v%d, %%v%d\n", v + 2, kind < 8 ? divides[pick(t, 4)] : shifts[pick(t, 3)],
	    bits, a, v + 1);
	return v + 2;
}

static int say_value(struct text *t, int bits, int depth)
{
	static const char *const extremes[] = {"umin", "umax", "smin", "smax"};
	int kind = pick(t, 10), a, b, c, v;

	if (depth <= 0 || kind < 2)
		return say_leaf(t, bits);
	if (kind < 7)
		return say_binary(t, bits, depth);
	if (kind == 7) {
		c = say_condition(t, depth);
		return say_cast(t, c, 1, bits);
	}
	a = say_value(t, bits, depth - 1);
	b = say_value(t, bits, depth - 1);
	if (kind == 8) {
		c = say_condition(t, depth);
		v = t->next++;
		SAY("  %%v%d = select i1 %%v%d, i%d %%v%d, i%d %%v%d\n", v, c, bits, a, bits, b);
	} else {
		v = t->next++;
		SAY("  %%v%d = call i%d @llvm.%s.i%d(i%d %%v%d, i%d %%v%d)\n", v, bits, extremes[pick(t, 4)],
		    bits, bits, a, bits, b);
	}
	return v;
}

/* Writes code that computes the address of a slot of @M.  The index of the slot is a constant, the
 * counter of a loop, or a value. */
static int say_slot(struct text *t, int r)
{
	int index = t->next++, at, kind = pick(t, 4);

	if (t->loops > 0 && kind < 2) {
		SAY("  %%v%d = load i64, ptr %%c%d\n", index, t->loop[t->loops - 1]);
	} else if (kind == 3) {
		int v = say_value(t, 64, 1);

		SAY("  %%v%d = and i64 %%v%d, 3\n", index, v);
	} else {
		SAY("  %%v%d = add i64 %d, 0\n", index, pick(t, SLOTS));
	}
	at = t->next++;
	SAY("  %%v%d = getelementptr i%d, ptr @M%d, i64 %%v%d\n", at, widths[r], r, index);
	return at;
}

static void say_statements(struct text *t, int count);

static void say_if(struct text *t)
{
	int c = say_condition(t, 2), n = t->next++;

	SAY("  br i1 %%v%d, label %%yes%d, label %%no%d\nyes%d:\n", c, n, n, n);
	say_statements(t, 1 + pick(t, 2));
	SAY("  br label %%end%d\nno%d:\n", n, n);
	say_statements(t, pick(t, 2));
	SAY("  br label %%end%d\nend%d:\n", n, n);
}

static void say_switch(struct text *t)
{
	int v = say_value(t, 32, 1), n = t->next++;

	SAY("  %%w%d = and i32 %%v%d, 3\n  switch i32 %%w%d, label %%d%d [ i32 0, label %%a%d i32 2, label "
	    "%%b%d ]\n",
	    n, v, n, n, n, n);
	for (int i = 0; i < 3; i++) {
		SAY("%c%d:\n", "abd"[i], n);
		say_statements(t, 1);
		SAY("  br label %%e%d\n", n);
	}
	SAY("e%d:\n", n);
}

/* Writes a loop with five rounds, or with 0 to 3 rounds that depend on the numbers. */
static void say_loop(struct text *t)
{
	int n = t->next++, bound;

	if (t->loops == 2)
		return;
	bound = say_value(t, 64, 1);
	SAY("  %%k%d = and i64 %%v%d, 3\n  store i64 0, ptr %%c%d\n  br label %%h%d\nh%d:\n", n, bound, n, n,
	    n);
	SAY("  %%i%d = load i64, ptr %%c%d\n  %%t%d = icmp ult i64 %%i%d, ", n, n, n, n);
	if (pick(t, 2))
		SAY("%%k%d\n", n);
	else
		SAY("5\n");
	SAY("  br i1 %%t%d, label %%l%d, label %%x%d\nl%d:\n", n, n, n, n);
	t->loop[t->loops++] = n;
	say_statements(t, 1 + pick(t, 3));
	t->loops--;
	SAY("  %%j%d = load i64, ptr %%c%d\n  %%q%d = add nuw nsw i64 %%j%d, 1\n  store i64 %%q%d, ptr "
	    "%%c%d\n",
	    n, n, n, n, n, n);
	SAY("  br label %%h%d\nx%d:\n", n, n);
}

/* Writes a loop of five iterations that only accesses an array.  The instrumenter makes two copies
 * of such a loop. */
static void say_plain_loop(struct text *t, int r)
{
	int n = t->next++, bits = widths[r], v;

	v = say_value(t, bits, 1);
	SAY("  store i64 0, ptr %%c%d\n  br label %%h%d\nh%d:\n  %%i%d = load i64, ptr %%c%d\n", n, n, n, n,
	    n);
	SAY("  %%a%d = getelementptr i%d, ptr @M%d, i64 %%i%d\n  %%x%d = load i%d, ptr %%a%d\n", n, bits, r,
	    n, n, bits, n);
	SAY("  %%y%d = %s i%d %%x%d, %%v%d\n  %%b%d = getelementptr i%d, ptr %%a%d, i64 %d\n", n,
	    pick(t, 2) ? "add" : "xor", bits, n, v, n, bits, n, pick(t, 6));
	SAY("  store i%d %%y%d, ptr %%b%d\n  %%j%d = add nuw nsw i64 %%i%d, 1\n  store i64 %%j%d, ptr "
	    "%%c%d\n",
	    bits, n, n, n, n, n, n);
	SAY("  %%t%d = icmp ult i64 %%j%d, 5\n  br i1 %%t%d, label %%h%d, label %%l%d\nl%d:\n", n, n, n, n, n,
	    n);
}

static void say_statement(struct text *t)
{
	int r = pick(t, REGISTERS), kind = pick(t, 14), v, at;

	if (kind < 3) {
		v = say_value(t, widths[r], 3);
		SAY("  store i%d %%v%d, ptr %%r%d\n", widths[r], v, r);
	} else if (kind < 5) {
		v = say_value(t, widths[r], 2);
		at = say_slot(t, r);
		SAY("  store i%d %%v%d, ptr %%v%d\n", widths[r], v, at);
	} else if (kind < 7) {
		at = say_slot(t, r);
		v = t->next++;
		SAY("  %%v%d = load i%d, ptr %%v%d\n  store i%d %%v%d, ptr %%r%d\n", v, widths[r], at,
		    widths[r], v, r);
	} else if (kind < 9) {
		say_if(t);
	} else if (kind == 9) {
		say_switch(t);
	} else if (kind == 10) {
		say_loop(t);
	} else if (kind < 13) {
		say_plain_loop(t, r);
	} else {
		int a = say_value(t, 32, 2), b = say_value(t, 64, 2);

		v = t->next++;
		SAY("  %%v%d = call i32 @g(i32 %%v%d, i64 %%v%d)\n  store i32 %%v%d, ptr %%r2\n", v, a, b, v);
	}
}

static void say_statements(struct text *t, int count)
{
	for (int i = 0; i < count && t->budget > 0; i++) {
		t->budget--;
		say_statement(t);
	}
}

static char *text_of(uint64_t seed)
{
	struct text body = {.code = RD_BUF_INIT, .random = rd_random_of(seed, 2), .next = 1, .budget = 12},
		    *t = &body;
	struct rd_buf all = RD_BUF_INIT;

	say_statements(t, 8);
	for (int i = 0; i < REGISTERS; i++)
		rd_buf_addf(&all, "@M%d = global [%d x i%d] zeroinitializer\n", i, SLOTS, widths[i]);
	for (int i = 0; i < 16; i++)
		rd_buf_addf(&all, "declare i%d @llvm.%s.i%d(i%d, i%d)\n", widths[i % 4],
			    i < 4    ? "umin"
			    : i < 8  ? "umax"
			    : i < 12 ? "smin"
				     : "smax",
			    widths[i % 4], widths[i % 4], widths[i % 4]);
	rd_buf_adds(&all, "define internal i32 @g(i32 %a, i64 %b) noinline {\n  %c = trunc i64 %b to i32\n"
			  "  %d = icmp sgt i32 %a, %c\n  br i1 %d, label %y, label %n\n"
			  "y:\n  %e = sub i32 %a, %c\n  ret i32 %e\nn:\n  ret i32 17\n}\n"
			  "define i64 @f(i8 %p0, i16 %p1, i32 %p2, i64 %p3) {\n");
	for (int i = 0; i < REGISTERS; i++)
		rd_buf_addf(&all, "  %%r%d = alloca i%d\n", i, widths[i]);
	for (int i = 0; i < body.next; i++)
		if (strstr(body.code.data, "ptr %c") != NULL)
			rd_buf_addf(&all, "  %%c%d = alloca i64\n", i);
	for (int i = 0; i < REGISTERS; i++)
		rd_buf_addf(&all, "  store i%d %%p%d, ptr %%r%d\n", widths[i], i, i);
	rd_buf_addf(
		&all,
		"%s  %%z0 = load i64, ptr %%r3\n  %%z1 = load i32, ptr %%r2\n  %%z2 = zext i32 %%z1 to i64\n"
		"  %%z3 = load i8, ptr %%r0\n  %%z4 = sext i8 %%z3 to i64\n  %%z5 = xor i64 %%z0, %%z2\n"
		"  %%z6 = add i64 %%z5, %%z4\n  ret i64 %%z6\n}\n",
		body.code.data);
	rd_buf_release(&body.code);
	return all.data;
}

/* ---- expressions that the hooks build ---- */

struct step {
	uint32_t site, ref;
	uint64_t value;
	bool is_address; /* the expression is an address that had this value */
};

/* The expressions and branches of a run. */
struct run {
	struct raddle_expr nodes[MAX_NODES];
	uint32_t node_count;
	struct step steps[MAX_STEPS];
	int step_count;
	uint64_t inputs[INPUTS], result;
	uint32_t result_ref;
};

static struct run *now;
static struct {
	uintptr_t at;
	uint32_t size, ref;
} shadow[MAX_SHADOW];
static int shadow_count;
static struct {
	const void *callee, *from;
	uint32_t result, argument[RADDLE_SHADOW_ARGUMENTS];
} call;

static uint32_t make(uint32_t op, uint32_t bits, uint32_t a, uint32_t b, uint32_t c, uint64_t k)
{
	assert_true(now->node_count < MAX_NODES);
	now->nodes[now->node_count] = (struct raddle_expr){
		.op = (uint8_t)op, .bits = (uint8_t)bits, .a = a, .b = b, .c = c, .k = k};
	return now->node_count++;
}

static uint32_t operand(uint32_t ref, uint64_t value, uint32_t bits)
{
	if (ref == 0)
		return make(RADDLE_EXPR_CONST, bits, 0, 0, 0, value);
	assert_int_equal(now->nodes[ref].bits, bits);
	return ref;
}

/* Computes the values of all nodes of a run for the given numbers. */
static void evaluate(const struct run *run, const uint64_t *inputs, uint64_t *values)
{
	for (uint32_t i = 1; i < run->node_count; i++) {
		const struct raddle_expr *e = &run->nodes[i];
		struct raddle_expr_values v = {values[e->a], values[e->b], values[e->c],
					       run->nodes[e->a].bits, run->nodes[e->b].bits};

		values[i] = e->op == RADDLE_EXPR_VAR ? inputs[e->k] & raddle_expr_mask(e->bits)
						     : raddle_expr_apply(e, &v);
	}
}

static void add_step(uint32_t site, uint32_t ref, uint64_t value, bool is_address)
{
	assert_true(now->step_count < MAX_STEPS);
	if (ref != 0)
		now->steps[now->step_count++] = (struct step){site, ref, value, is_address};
}

/* ---- hooks of the flavour `shadow` ---- */

static uint32_t hook_bin(uint32_t what, uint32_t ea, uint32_t eb, uint64_t a, uint64_t b)
{
	uint32_t bits = what & 0xff, op = what >> 8;

	if ((ea | eb) == 0)
		return 0;
	return make(op, raddle_expr_is_compare(op) ? 1 : bits, operand(ea, a, bits), operand(eb, b, bits), 0,
		    0);
}

static uint32_t hook_index(uint64_t what, uint32_t ea, uint32_t ei, uint64_t a, uint64_t i)
{
	uint32_t bits = what & 0xff, e;

	if ((ea | ei) == 0)
		return 0;
	e = bits == 64 ? operand(ei, i, 64) : make(RADDLE_EXPR_SEXT, 64, operand(ei, i, bits), 0, 0, 0);
	e = make(RADDLE_EXPR_MUL, 64, e, make(RADDLE_EXPR_CONST, 64, 0, 0, 0, what >> 8), 0, 0);
	return make(RADDLE_EXPR_ADD, 64, operand(ea, a, 64), e, 0, 0);
}

static uint32_t hook_cast(uint32_t what, uint32_t e, uint32_t from)
{
	if (e == 0)
		return 0;
	assert_int_equal(now->nodes[e].bits, from);
	return make(what >> 8, what & 0xff, e, 0, 0, 0);
}

static uint32_t hook_choose(uint32_t what, uint32_t ec, uint64_t refs, uint64_t a, uint64_t b)
{
	uint32_t bits = what & 0xff;

	if (ec == 0)
		return (uint32_t)(what >> 31 ? refs >> 32 : refs);
	return make(RADDLE_EXPR_ITE, bits, ec, operand((uint32_t)(refs >> 32), a, bits),
		    operand((uint32_t)refs, b, bits), 0);
}

static uint32_t hook_load(const void *p, uint32_t size, uint32_t ea)
{
	add_step(0, ea, (uintptr_t)p, true);
	for (int i = 0; i < shadow_count; i++)
		if (shadow[i].at == (uintptr_t)p) {
			assert_int_equal(shadow[i].size, size);
			return shadow[i].ref;
		}
	return 0;
}

static void hook_store(const void *p, uint32_t size, uint32_t e, uint32_t ea)
{
	int i = 0;

	add_step(0, ea, (uintptr_t)p, true);
	while (i < shadow_count && shadow[i].at != (uintptr_t)p)
		i++;
	assert_true(i < MAX_SHADOW);
	if (e != 0)
		assert_int_equal(now->nodes[e].bits, size * 8);
	shadow[i].at = (uintptr_t)p;
	shadow[i].size = size;
	shadow[i].ref = e;
	shadow_count += i == shadow_count;
}

static uint32_t hook_load_in(const void *p, uint32_t size, uint32_t ea, uint32_t flag)
{
	return flag & 1 ? hook_load(p, size, ea) : 0;
}

static void hook_store_in(const void *p, uint32_t size, uint32_t e, uint32_t ea, uint32_t flag)
{
	if (flag & 1)
		hook_store(p, size, e, ea);
}

/* Whether any of the bytes has an expression.  The answer is exact, so the test fails if a loop
 * asks about too few bytes. */
static uint32_t hook_extent(const void *p, uint64_t rounds, int64_t by, uint32_t what)
{
	for (int i = 0; i < shadow_count; i++)
		for (uint64_t n = 0; n < rounds && n < 64 && shadow[i].ref != 0; n++) {
			uintptr_t at = (uintptr_t)p + n * (uint64_t)by;

			if (shadow[i].at < at + (what & 0xff) && at < shadow[i].at + shadow[i].size)
				return 1;
		}
	return 0;
}

static void hook_branch(uint32_t site, uint32_t ref, uint32_t taken)
{
	add_step(site, ref, taken, false);
}

/* Uses the value as the condition, which is stricter than what the real hook does. */
static void hook_switch(uint32_t what, uint32_t site, uint32_t e, uint64_t v, const uint64_t *cases)
{
	assert_int_equal(what >> 8, 2);
	assert_true(cases[0] == 0 && cases[1] == 2);
	add_step(site, e, v, false);
}

static void hook_fresh(const void *p, uint64_t size)
{
	for (int i = 0; i < shadow_count; i++)
		if (shadow[i].at - (uintptr_t)p < size)
			shadow[i].ref = 0;
}

/* If a fill value has an expression, it is a byte. */
static void hook_filled(const char *p, uint32_t ref, uint64_t size)
{
	hook_fresh(p, size);
	for (uint64_t i = 0; i < size && ref != 0; i++)
		hook_store(p + i, 1, ref, 0);
}

static void hook_copied(const char *to, const char *from, uint64_t size)
{
	int count = shadow_count;

	hook_fresh(to, size);
	for (int i = 0; i < count; i++)
		if (shadow[i].at - (uintptr_t)from < size && shadow[i].ref != 0)
			hook_store(to + (shadow[i].at - (uintptr_t)from), shadow[i].size, shadow[i].ref, 0);
}

static uint32_t hook_param(const void *function, uint32_t n)
{
	return call.callee == function ? call.argument[n] : 0;
}

static void hook_entered(void)
{
	call.callee = NULL;
}

static void hook_call(const void *function, uint32_t any, uint32_t count)
{
	assert_true(count <= RADDLE_SHADOW_ARGUMENTS);
	call.from = NULL;
	call.callee = any != 0 ? function : NULL;
}

static void hook_argument(uint32_t n, uint32_t e)
{
	call.argument[n] = e;
}

static uint32_t hook_result(const void *function)
{
	return call.from == function ? call.result : 0;
}

static void hook_return(const void *function, uint32_t e)
{
	call.result = e;
	call.from = e != 0 ? function : NULL;
}

/* ---- hooks of `record`, which do nothing here ---- */

static void *nothing(void)
{
	return &call;
}

static void *const hooks[HOOK_COUNT] = {
	[HOOK_ENTER] = nothing,
	[HOOK_STACK] = nothing,
	[HOOK_CALL] = nothing,
	[HOOK_RETURN] = nothing,
	[HOOK_READ1] = nothing,
	[HOOK_READ2] = nothing,
	[HOOK_READ4] = nothing,
	[HOOK_READ8] = nothing,
	[HOOK_WRITE1] = nothing,
	[HOOK_WRITE2] = nothing,
	[HOOK_WRITE4] = nothing,
	[HOOK_WRITE8] = nothing,
	[HOOK_UPDATE1] = nothing,
	[HOOK_UPDATE2] = nothing,
	[HOOK_UPDATE4] = nothing,
	[HOOK_UPDATE8] = nothing,
	[HOOK_READ_TWO] = nothing,
	[HOOK_WRITE_TWO] = nothing,
	[HOOK_UPDATE_TWO] = nothing,
	[HOOK_READ_RANGE] = nothing,
	[HOOK_WRITE_RANGE] = nothing,
	[HOOK_READ_STRIDE] = nothing,
	[HOOK_WRITE_STRIDE] = nothing,
	[HOOK_SX_BIN] = hook_bin,
	[HOOK_SX_INDEX] = hook_index,
	[HOOK_SX_CAST] = hook_cast,
	[HOOK_SX_CHOOSE] = hook_choose,
	[HOOK_SX_LOAD] = hook_load,
	[HOOK_SX_STORE] = hook_store,
	[HOOK_SX_EXTENT] = hook_extent,
	[HOOK_SX_LOAD_IN] = hook_load_in,
	[HOOK_SX_STORE_IN] = hook_store_in,
	[HOOK_SX_BRANCH] = hook_branch,
	[HOOK_SX_SWITCH] = hook_switch,
	[HOOK_SX_FRESH] = hook_fresh,
	[HOOK_SX_PARAM] = hook_param,
	[HOOK_SX_ENTERED] = hook_entered,
	[HOOK_SX_CALL] = hook_call,
	[HOOK_SX_ARGUMENT] = hook_argument,
	[HOOK_SX_RESULT] = hook_result,
	[HOOK_SX_RETURN] = hook_return,
	[HOOK_SX_MADE] = hook_fresh,
	[HOOK_SX_FILLED] = hook_filled,
	[HOOK_SX_COPIED] = hook_copied,
};

/* ---- runs, and comparison of their paths and results ---- */

typedef uint64_t function_fn(uint8_t, uint16_t, uint32_t, uint64_t);

static uint64_t call_it(struct instr_jit *j, const uint64_t *inputs)
{
	function_fn *f;

	for (int i = 0; i < REGISTERS; i++) {
		char name[8];

		snprintf(name, sizeof name, "M%d", i);
		memset(instr_jit_variable(j, name), 0, (size_t)(SLOTS * widths[i] / 8));
	}
	*(void **)&f = instr_jit_find(j, "f");
	return f((uint8_t)inputs[0], (uint16_t)inputs[1], (uint32_t)inputs[2], inputs[3]);
}

static void follow(struct instr_jit *j, struct run *run, const uint64_t *inputs)
{
	now = run;
	run->node_count = 1;
	run->step_count = shadow_count = 0;
	memcpy(run->inputs, inputs, sizeof run->inputs);
	call.callee = instr_jit_find(j, "f");
	call.from = NULL;
	for (uint32_t i = 0; i < INPUTS; i++)
		call.argument[i] = make(RADDLE_EXPR_VAR, (uint32_t)widths[i], 0, 0, 0, i);
	run->result = call_it(j, inputs);
	run->result_ref = call.from == instr_jit_find(j, "f") ? call.result : 0;
}

/* Whether numbers fulfil all conditions of the run's path.  Stores the values of the expressions in
 * `values`. */
static bool takes_path(const struct run *run, const uint64_t *inputs, uint64_t *values)
{
	evaluate(run, inputs, values);
	for (int i = 0; i < run->step_count; i++)
		if (values[run->steps[i].ref] != run->steps[i].value)
			return false;
	return true;
}

static uint64_t result_for(const struct run *run, const uint64_t *values)
{
	return run->result_ref != 0 ? values[run->result_ref] : run->result;
}

static void check_same_path(const struct run *a, const struct run *b)
{
	assert_int_equal(a->step_count, b->step_count);
	for (int i = 0; i < a->step_count; i++) {
		assert_int_equal(a->steps[i].site, b->steps[i].site);
		assert_int_equal(a->steps[i].value, b->steps[i].value);
	}
}

/* Chooses new numbers, often near the last ones, because these sometimes take the same path. */
static void choose(struct rd_random *r, uint64_t *inputs, int round)
{
	if (round % 4 == 0)
		for (int i = 0; i < INPUTS; i++)
			inputs[i] = rd_random_next(r) >> rd_random_below(r, 64) &
				    raddle_expr_mask((uint32_t)widths[i]);
	else
		inputs[rd_random_below(r, INPUTS)] ^= 1ull << rd_random_below(r, 8);
}

static int same_paths;

static void check_function(struct instr_jit *followed, struct instr_jit *plain, uint64_t seed)
{
	static struct run first, second;
	static uint64_t values[MAX_NODES];
	struct rd_random r = rd_random_of(seed, 3);
	uint64_t inputs[INPUTS] = {0};

	for (int round = 0; round < 24; round++) {
		choose(&r, inputs, round);
		follow(followed, &second, inputs);
		assert_int_equal(call_it(plain, inputs), second.result);
		assert_true(takes_path(&second, inputs, values));
		assert_int_equal(result_for(&second, values), second.result);
		if (round % 4 == 0) {
			first = second;
		} else if (takes_path(&first, inputs, values)) {
			check_same_path(&first, &second);
			assert_int_equal(result_for(&first, values), second.result);
			same_paths++;
		}
	}
}

static void check_seed(uint64_t seed, bool fast)
{
	struct instr_jit followed = {.options = {.fast = fast}}, plain = {.options = {.fast = false}};
	char *text = text_of(seed);

	assert_int_equal(instr_jit_open(&followed, RADDLE_FLAVOUR_SHADOW, text), 0);
	assert_int_equal(instr_jit_instrument(&followed), 0);
	assert_int_equal(instr_jit_generate(&followed), 0);
	instr_jit_load(&followed, hooks, NULL, 0);
	assert_int_equal(instr_jit_open(&plain, RADDLE_FLAVOUR_RECORD, text), 0);
	instr_jit_load(&plain, hooks, NULL, 0);
	check_function(&followed, &plain, seed);
	instr_jit_close(&followed);
	instr_jit_close(&plain);
	free(text);
}

static void expressions_say_what_code_computes(void **state)
{
	const char *given = getenv("SEED");
	uint64_t first = given != NULL ? strtoull(given, NULL, 10) : 1;
	uint64_t count = given != NULL ? 1 : getenv("RADDLE_LONG") != NULL ? 100 : 24;

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		print_message("seed %llu\n", (unsigned long long)seed);
		check_seed(seed, false);
		check_seed(seed, true);
	}
	assert_true(given != NULL || same_paths > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expressions_say_what_code_computes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
