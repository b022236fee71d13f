// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of what is derived from expressions: conditions as text, inputs made from values, and
 * the choice of inputs that may change.  Two traces are merged into one, whose nodes are compared
 * with those of the originals.
 */
#include "symbolic-fixture.h"

#include "symbolic/choose.h"
#include "symbolic/join.h"

/* ---- conditions as text ---- */

static uint32_t constant(struct sym_trace *t, uint32_t bits, uint64_t value)
{
	return add_node(t, (struct raddle_expr){.op = RADDLE_EXPR_CONST, .bits = (uint8_t)bits, .k = value});
}

static uint32_t two(struct sym_trace *t, uint32_t op, uint32_t a, uint32_t b)
{
	uint8_t bits = raddle_expr_is_compare(op) ? 1 : t->nodes[a].bits;

	return add_node(t, (struct raddle_expr){.op = (uint8_t)op, .bits = bits, .a = a, .b = b});
}

static void expect_words(const struct sym_trace *t, uint32_t node, bool holds, const char *expected)
{
	struct rd_buf out = RD_BUF_INIT;

	assert_int_equal(sym_words_condition(t, node, holds, &out), expected != NULL);
	if (expected)
		assert_string_equal(out.data, expected);
	else
		assert_int_equal(out.length, 0);
	rd_buf_release(&out);
}

/* The constant is on the right.  If a condition does not hold, the opposite operator is shown. */
static void comparisons_read_from_left_to_right(void **state)
{
	static const struct {
		uint32_t op;
		const char *holds, *fails, *swapped, *swapped_fails;
	} rows[] = {
		{RADDLE_EXPR_EQ, "==", "!=", "==", "!="},    {RADDLE_EXPR_ULT, "<u", ">=u", ">u", "<=u"},
		{RADDLE_EXPR_ULE, "<=u", ">u", ">=u", "<u"}, {RADDLE_EXPR_SLT, "<", ">=", ">", "<="},
		{RADDLE_EXPR_SLE, "<=", ">", ">=", "<"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *signs[] = {rows[i].holds, rows[i].fails, rows[i].swapped, rows[i].swapped_fails};
		struct sym_trace t;
		uint32_t c, nodes[2];

		begin_trace(&t);
		add_byte(&t, 0, 5, 0);
		c = constant(&t, 8, 'q');
		nodes[0] = two(&t, rows[i].op, 1, c);
		nodes[1] = two(&t, rows[i].op, c, 1);
		for (int k = 0; k < 4; k++) {
			char *expected = rd_xasprintf("stdin[5] %s 'q'", signs[k]);

			expect_words(&t, nodes[k / 2], k % 2 == 0, expected);
			free(expected);
		}
		sym_trace_release(&t);
	}
}

static void inputs_have_the_names_that_users_write(void **state)
{
	struct sym_trace t;
	uint32_t is;

	(void)state;
	begin_trace(&t);
	strcpy(t.text, "in.txtHOMEa\"\n");
	t.text_length = 13;
	t.input_count = 4;
	t.inputs[1] = (struct raddle_shadow_input){.kind = RADDLE_INPUT_ARGV, .number = 2};
	t.inputs[2] = (struct raddle_shadow_input){.kind = RADDLE_INPUT_FILE, .length = 6};
	t.inputs[3] = (struct raddle_shadow_input){.kind = RADDLE_INPUT_ENV, .name = 6, .length = 4};
	add_byte(&t, 3, 7, 0);
	add_var(&t, (struct raddle_shadow_var){.sort = RADDLE_VAR_NUMBER, .bits = 64, .input = 1});
	add_var(&t,
		(struct raddle_shadow_var){.sort = RADDLE_VAR_LENGTH, .bits = 64, .input = 2, .offset = 4});
	add_var(&t, (struct raddle_shadow_var){
			    .sort = RADDLE_VAR_EQUAL, .bits = 1, .input = 0, .text = 10, .text_length = 3});
	expect_words(&t, two(&t, RADDLE_EXPR_EQ, 1, constant(&t, 8, 200)), true, "$HOME[7] == -56");
	expect_words(&t, two(&t, RADDLE_EXPR_SLT, 2, constant(&t, 64, 10)), true, "number(argv[2]) < 10");
	expect_words(&t, two(&t, RADDLE_EXPR_ULE, constant(&t, 64, 3), 3), false,
		     "length(file(in.txt) from 4) <u 3");
	expect_words(&t, 4, true, "(stdin from 0 is \"a\\x22\\x0a\")");
	expect_words(&t, 4, false, "not (stdin from 0 is \"a\\x22\\x0a\")");
	/* An exclusive or with 1 is shown as a negation. */
	is = two(&t, RADDLE_EXPR_XOR, 4, constant(&t, 1, 1));
	expect_words(&t, is, false, "(stdin from 0 is \"a\\x22\\x0a\")");
	expect_words(&t, two(&t, RADDLE_EXPR_XOR, is, constant(&t, 1, 1)), false,
		     "not (stdin from 0 is \"a\\x22\\x0a\")");
	sym_trace_release(&t);
}

/* The widths of numbers are not shown, because users do not need them. */
static void operators_are_nested_in_brackets(void **state)
{
	struct sym_trace t;
	uint32_t wide_a, wide_b, sum, choice;

	(void)state;
	begin_trace(&t);
	add_byte(&t, 0, 0, 0);
	add_byte(&t, 0, 1, 0);
	wide_a = add_node(&t, (struct raddle_expr){.op = RADDLE_EXPR_ZEXT, .bits = 32, .a = 1});
	wide_b = add_node(&t, (struct raddle_expr){.op = RADDLE_EXPR_SEXT, .bits = 32, .a = 2});
	sum = two(&t, RADDLE_EXPR_MUL, two(&t, RADDLE_EXPR_ADD, wide_a, wide_b), constant(&t, 32, 10));
	expect_words(&t, two(&t, RADDLE_EXPR_SLT, sum, constant(&t, 32, UINT32_MAX)), true,
		     "((stdin[0] + stdin[1]) * 10) < -1");
	choice = add_node(
		&t,
		(struct raddle_expr){
			.op = RADDLE_EXPR_ITE,
			.bits = 8,
			.a = two(&t, RADDLE_EXPR_EQ, 1, 2),
			.b = 1,
			.c = add_node(&t, (struct raddle_expr){.op = RADDLE_EXPR_TABLE, .bits = 8, .a = 2})});
	expect_words(&t, two(&t, RADDLE_EXPR_EQ, choice, constant(&t, 8, 3)), false,
		     "(stdin[0] == stdin[1] ? stdin[0] : table0[stdin[1]]) != 3");
	/* An extraction of a few bits has no notation. */
	expect_words(&t, add_node(&t, (struct raddle_expr){.op = RADDLE_EXPR_EXTRACT, .bits = 1, .a = 1}),
		     true, NULL);
	sym_trace_release(&t);
}

/* A condition that does not fit into two lines is not shown at all. */
static void long_conditions_are_left_out(void **state)
{
	struct sym_trace t;
	uint32_t sum = 1;
	bool shown = true;

	(void)state;
	begin_trace(&t);
	add_byte(&t, 0, 0, 0);
	for (int depth = 0; depth < 20; depth++) {
		struct rd_buf out = RD_BUF_INIT;
		bool now = sym_words_condition(&t, two(&t, RADDLE_EXPR_EQ, sum, 1), true, &out);

		assert_true(shown || !now); /* longer conditions are not shown either */
		assert_true(out.length <= 160);
		assert_true(now || !out.length);
		shown = now;
		rd_buf_release(&out);
		sum = two(&t, RADDLE_EXPR_ADD, sum, 1);
	}
	assert_false(shown);
	sym_trace_release(&t);
}

/* ---- inputs made from values ---- */

static bool give_content(void *context, struct rd_override_part *part)
{
	part->data = rd_xstrdup(context);
	part->length = strlen(context);
	return context != NULL;
}

/* Expects this standard input after the variables got these values.  NULL means that it has not
 * changed. */
static void expect_input(const struct sym_trace *t, const char *before, const uint64_t *values,
			 const char *expected)
{
	struct rd_override base = {0}, out = {0};
	const struct rd_override_part *part;

	assert_int_equal(sym_input_make(t, values, &base, give_content, (void *)before, &out), RD_OK);
	part = rd_override_find(&out, &(struct rd_override_part){.kind = RD_OVERRIDE_STDIN});
	assert_int_equal(part != NULL, expected != NULL);
	if (expected) {
		assert_int_equal(part->length, strlen(expected));
		assert_memory_equal(part->data, expected, part->length);
	}
	rd_override_release(&out);
}

static void bytes_and_slots_are_replaced(void **state)
{
	struct sym_trace t;
	uint64_t values[VARS_MAX];

	(void)state;
	begin_trace(&t);
	strcpy(t.text, "quit");
	t.text_length = 4;
	add_byte(&t, 0, 0, 'a');
	add_var(&t, (struct raddle_shadow_var){.sort = RADDLE_VAR_NUMBER,
					       .bits = 64,
					       .base = 10,
					       .offset = 2,
					       .length = 2,
					       .value = 42});
	add_var(&t, (struct raddle_shadow_var){
			    .sort = RADDLE_VAR_EQUAL, .bits = 1, .offset = 5, .length = 3, .text_length = 4});
	add_var(&t, (struct raddle_shadow_var){
			    .sort = RADDLE_VAR_LENGTH, .bits = 64, .offset = 5, .length = 3, .value = 3});
	sym_trace_values(&t, values);
	expect_input(&t, "a 42 xyz.", values, NULL);
	values[0] = 'b';
	expect_input(&t, "a 42 xyz.", values, "b 42 xyz.");
	values[1] = (uint64_t)-7;
	expect_input(&t, "a 42 xyz.", values, "b -7 xyz.");
	values[1] = 123456;
	expect_input(&t, "a 42 xyz.", values, "b 123456 xyz."); /* the following bytes are moved */
	values[3] = 1;
	expect_input(&t, "a 42 xyz.", values, "b 123456 x.");
	values[3] = 5;
	expect_input(&t, "a 42 xyz.", values, "b 123456 xyzzz."); /* the last byte is repeated */
	values[3] = 3;
	values[2] = 1;
	expect_input(&t, "a 42 xyz.", values, "b 123456 quit.");
	values[0] = 'a';
	values[1] = 42;
	expect_input(&t, "a 42 xyz.", values, "a 42 quit.");
	expect_input(&t, "a 4", values, "a 4"); /* the input ends before the number */
	sym_trace_release(&t);
}

static void numbers_are_written_in_their_base(void **state)
{
	static const struct {
		uint8_t base, is_unsigned;
		const char *text;
	} rows[] = {{10, 0, "-1"},
		    {10, 1, "18446744073709551615"},
		    {16, 0, "ffffffffffffffff"},
		    {8, 0, "1777777777777777777777"}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct sym_trace t;
		const uint64_t all[] = {UINT64_MAX};

		begin_trace(&t);
		add_var(&t, (struct raddle_shadow_var){.sort = RADDLE_VAR_NUMBER,
						       .bits = 64,
						       .base = rows[i].base,
						       .is_unsigned = rows[i].is_unsigned,
						       .length = 1});
		expect_input(&t, "0", all, rows[i].text);
		sym_trace_release(&t);
	}
}

/* ---- the choice of inputs that may change ---- */

static void selections(void **state)
{
	static const char *const wrong[] = {
		"argv",	 "argv:", "argv:0", "argv:x", "argv:1x",       "stdin:x", "file",
		"file:", "env",	  "env:",   "pipe:1", "argv:1,,stdin", "stdinx",  "stdin,"};
	struct sym_selection w;

	(void)state;
	assert_int_equal(sym_selection_parse(&w, NULL), RD_OK);
	assert_int_equal(w.count, 0);
	sym_selection_release(&w);
	assert_int_equal(sym_selection_parse(&w, "argv:2,stdin:3-17,file:a:b.txt,env:X:0-0"), RD_OK);
	assert_int_equal(w.count, 4);
	assert_int_equal(w.items[0].kind, RD_OVERRIDE_ARGV);
	assert_int_equal(w.items[0].number, 2);
	assert_true(w.items[0].first == 0 && w.items[0].last == UINT64_MAX);
	assert_int_equal(w.items[1].kind, RD_OVERRIDE_STDIN);
	assert_true(w.items[1].first == 3 && w.items[1].last == 17);
	assert_int_equal(w.items[2].kind, RD_OVERRIDE_FILE);
	assert_string_equal(w.items[2].name, "a:b.txt"); /* this colon does not begin a range */
	assert_int_equal(w.items[3].kind, RD_OVERRIDE_ENV);
	assert_string_equal(w.items[3].name, "X");
	assert_true(w.items[3].first == 0 && w.items[3].last == 0);
	sym_selection_release(&w);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		char *message = NULL;

		rd_log_set(rd_log_first, &message);
		assert_int_equal(sym_selection_parse(&w, wrong[i]), RD_EUSAGE);
		rd_log_set(NULL, NULL);
		assert_memory_equal(message, "--sym: ", 7);
		free(message);
		sym_selection_release(&w);
	}
}

static void a_selection_frees_its_bytes_only(void **state)
{
	struct sym_trace t;
	struct sym_selection w;
	bool fixed[VARS_MAX];

	(void)state;
	begin_trace(&t);
	t.inputs[1] = (struct raddle_shadow_input){.kind = RADDLE_INPUT_ARGV, .number = 1};
	t.input_count = 2;
	add_byte(&t, 0, 3, 0);
	add_byte(&t, 0, 4, 0);
	add_byte(&t, 1, 3, 0);
	add_var(&t,
		(struct raddle_shadow_var){.sort = RADDLE_VAR_NUMBER, .bits = 64, .offset = 3, .length = 2});
	assert_int_equal(sym_selection_parse(&w, "stdin:0-3"), RD_OK);
	assert_int_equal(sym_choose(&t, &t, &w, fixed), 1);
	assert_false(fixed[0]);
	assert_true(fixed[1]); /* the byte is after the range */
	assert_true(fixed[2]); /* the byte is of another input */
	assert_true(fixed[3]); /* only a part of it is in the range */
	sym_selection_release(&w);
	assert_int_equal(sym_selection_parse(&w, "argv:1,stdin:4-4"), RD_OK);
	assert_int_equal(sym_choose(&t, &t, &w, fixed), 3);
	assert_true(fixed[0] && !fixed[1] && !fixed[2] && fixed[3]);
	sym_selection_release(&w);
	sym_trace_release(&t);
}

/* Makes four arguments, and conditions about each of them, some after the race. */
static void make_conditions(struct sym_trace *t, uint64_t weight[4])
{
	begin_trace(t);
	t->input_count = 4;
	for (uint32_t i = 0; i < 4; i++) {
		t->inputs[i] = (struct raddle_shadow_input){.kind = RADDLE_INPUT_ARGV, .number = i + 1};
		add_byte(t, i, 0, 0);
	}
	memset(weight, 0, 4 * sizeof *weight);
	for (t->step_count = 0; t->step_count < STEPS_MAX; t->step_count++) {
		uint32_t a = 1 + (uint32_t)draw(4), b = 1 + (uint32_t)draw(4);
		struct raddle_shadow_step *s = &t->steps[t->step_count];

		*s = (struct raddle_shadow_step){.cond = two(t, RADDLE_EXPR_ULT, a, b), .met = draw(2) != 0};
		weight[a - 1] += s->met ? 2 : 1;
		weight[b - 1] += a != b ? (s->met ? 2 : 1) : 0;
	}
	for (t->output_count = 0; t->output_count < 3; t->output_count++) {
		uint32_t a = 1 + (uint32_t)draw(4);

		t->output[t->output_count] = (struct raddle_shadow_byte){.node = a};
		weight[a - 1]++;
	}
}

/* Without a selection, the inputs with the largest weights may change.  Of equal weights, the first
 * is preferred. */
static void most_used_inputs_may_change(void **state)
{
	(void)state;
	for (int round = 0; round < 200; round++) {
		struct sym_trace t, other;
		uint64_t weight[4], there[4], expected = 0;
		bool fixed[VARS_MAX];

		make_conditions(&t, weight);
		make_conditions(&other, there);
		for (int i = 0; i < 4; i++)
			weight[i] += there[i];
		for (int n = 0; n < SYM_INPUTS; n++) {
			int best = -1;

			for (int i = 0; i < 4; i++)
				if (!(expected >> i & 1) && weight[i] &&
				    (best < 0 || weight[i] > weight[best]))
					best = i;
			expected |= best < 0 ? 0 : 1ull << best;
		}
		assert_int_equal(sym_choose(&t, &other, &(struct sym_selection){0}, fixed), expected);
		for (int i = 0; i < 4; i++)
			assert_int_equal(fixed[i], !(expected >> i & 1));
		sym_trace_release(&t);
		sym_trace_release(&other);
	}
}

/* ---- merging two traces ---- */

/* Makes outputs and conditions of a random trace over the same two bytes. */
static void make_run(struct sym_trace *t)
{
	begin_trace(t);
	add_byte(t, 0, 0, 1);
	add_byte(t, 0, 1, 2);
	while (t->node_count < 25)
		random_node(t);
	for (uint32_t n = 1; n < t->node_count; n++) {
		if (t->nodes[n].bits == 8 && t->output_count < 3)
			t->output[t->output_count++] = (struct raddle_shadow_byte){.fd = 1, .node = n};
		if (t->nodes[n].bits == 1 && t->step_count < 3)
			t->steps[t->step_count++] =
				(struct raddle_shadow_step){.cond = n, .taken = draw(2) != 0};
	}
}

static bool outputs_differ(const struct sym_trace *a, const struct sym_trace *b, const uint64_t *x,
			   const uint64_t *y)
{
	for (size_t i = 0; i < a->output_count && i < b->output_count; i++) {
		uint32_t m = a->output[i].node, n = b->output[i].node;

		if (a->nodes[m].op == RADDLE_EXPR_CONST && b->nodes[n].op == RADDLE_EXPR_CONST)
			continue; /* this is compared by running the program */
		if (x[m] != y[n])
			return true;
	}
	return false;
}

static void joined_nodes_have_the_values_of_both(void **state)
{
	(void)state;
	for (int round = 0; round < 100; round++) {
		struct sym_trace a, b;
		struct sym_join j;
		uint64_t values[VARS_MAX], x[NODES_MAX], y[NODES_MAX], *all;

		make_run(&a);
		make_run(&b);
		sym_join(&j, &a, &b);
		all = rd_xcalloc(j.trace.node_count, sizeof *all);
		assert_int_equal(j.complete, a.output_count == b.output_count);
		assert_int_equal(j.fact_count, a.step_count + b.step_count + (j.differs != 0));
		for (int k = 0; k < 20; k++) {
			values[0] = draw_bits(8);
			values[1] = draw_bits(8);
			sym_evaluate(&a, values, x);
			sym_evaluate(&b, values, y);
			sym_evaluate(&j.trace, values, all);
			assert_memory_equal(all, x, a.node_count * sizeof *x);
			for (uint32_t n = 1; n < b.node_count; n++)
				assert_int_equal(all[j.node[n]], y[n]);
			assert_int_equal(j.differs ? all[j.differs] : 0, outputs_differ(&a, &b, x, y));
		}
		free(all);
		sym_join_release(&j);
		sym_trace_release(&a);
		sym_trace_release(&b);
	}
}

/* A variable that only one of the runs has cannot be compared. */
static void unknown_variables_make_a_join_incomplete(void **state)
{
	struct sym_trace a, b;
	struct sym_join j;

	(void)state;
	begin_trace(&a);
	begin_trace(&b);
	add_byte(&a, 0, 0, 0);
	add_byte(&b, 0, 0, 0);
	add_byte(&b, 0, 9, 0);
	b.output[0] = (struct raddle_shadow_byte){.fd = 1, .node = two(&b, RADDLE_EXPR_ADD, 1, 2)};
	a.output[0] = (struct raddle_shadow_byte){.fd = 1, .node = 1};
	a.output_count = b.output_count = 1;
	sym_join(&j, &a, &b);
	assert_false(j.complete);
	assert_int_equal(j.node[1], 1); /* the same byte becomes one variable */
	assert_int_equal(j.node[2], 0);
	assert_int_equal(j.node[3], 0);
	assert_int_equal(j.differs, 0);
	sym_join_release(&j);
	sym_trace_release(&a);
	sym_trace_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comparisons_read_from_left_to_right),
		cmocka_unit_test(inputs_have_the_names_that_users_write),
		cmocka_unit_test(operators_are_nested_in_brackets),
		cmocka_unit_test(long_conditions_are_left_out),
		cmocka_unit_test(bytes_and_slots_are_replaced),
		cmocka_unit_test(numbers_are_written_in_their_base),
		cmocka_unit_test(selections),
		cmocka_unit_test(a_selection_frees_its_bytes_only),
		cmocka_unit_test(most_used_inputs_may_change),
		cmocka_unit_test(joined_nodes_have_the_values_of_both),
		cmocka_unit_test(unknown_variables_make_a_join_incomplete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
