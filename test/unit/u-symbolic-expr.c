// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of expressions.  Values of random expressions are compared with a slow evaluator, the
 * variables on which a node depends with a recursive search, and the solver's answers with a trial
 * of all values.  Also tests the checks of a trace that a program may have damaged.
 */
#include "symbolic-fixture.h"

#include "symbolic/solve.h"

#include <sys/mman.h>

static void random_expressions(struct sym_trace *t, size_t count)
{
	while (t->node_count < count)
		random_node(t);
}

/* ---- values of expressions ---- */

static void values_are_those_of_the_slow_evaluator(void **state)
{
	enum { TRACES = 300, VALUES = 8 };
	unsigned seen[RADDLE_EXPR_OPS] = {0};

	(void)state;
	for (int i = 0; i < TRACES; i++) {
		struct sym_trace t;
		uint64_t values[VARS_MAX], out[NODES_MAX];
		static const uint8_t widths[] = {1, 8, 13, 64};

		begin_trace(&t);
		for (int v = 0; v < 4; v++)
			add_var(&t, (struct raddle_shadow_var){.sort = RADDLE_VAR_NUMBER, .bits = widths[v]});
		random_expressions(&t, 40);
		for (int k = 0; k < VALUES; k++) {
			for (size_t v = 0; v < t.var_count; v++)
				values[v] = draw_bits(64); /* bits above the width do not count */
			sym_evaluate(&t, values, out);
			assert_int_equal(out[0], 0);
			for (uint32_t n = 1; n < t.node_count; n++) {
				assert_int_equal(out[n], slow_value(&t, n, values));
				seen[t.nodes[n].op]++;
			}
		}
		sym_trace_release(&t);
	}
	for (unsigned op = RADDLE_EXPR_VAR; op < RADDLE_EXPR_OPS; op++)
		assert_true(seen[op] > 0); /* every operator occurred */
}

static void values_of_the_run_have_the_width_of_their_variable(void **state)
{
	struct sym_trace t;
	uint64_t values[VARS_MAX];

	(void)state;
	begin_trace(&t);
	add_byte(&t, 0, 0, 0xfe);
	add_var(&t, (struct raddle_shadow_var){.sort = RADDLE_VAR_NUMBER, .bits = 4, .value = 0xabc});
	add_var(&t, (struct raddle_shadow_var){.sort = RADDLE_VAR_NUMBER, .bits = 64, .value = UINT64_MAX});
	sym_trace_values(&t, values);
	assert_int_equal(values[0], 0xfe);
	assert_int_equal(values[1], 0xc);
	assert_int_equal(values[2], UINT64_MAX);
	sym_trace_release(&t);
}

/* ---- variables on which a node depends ---- */

static unsigned slow_vars(const struct sym_trace *t, uint32_t node)
{
	const struct raddle_expr *n = &t->nodes[node];
	uint32_t refs[] = {n->a, n->b, n->c};
	unsigned vars = n->op == RADDLE_EXPR_VAR ? 1u << n->k : 0;

	for (uint32_t i = 0; i < raddle_expr_operands(n->op); i++)
		vars |= slow_vars(t, refs[i]);
	return vars;
}

struct found {
	unsigned vars, calls;
};

static void note_var(void *context, uint32_t var)
{
	struct found *f = context;

	f->vars |= 1u << var;
	f->calls++;
}

static void each_variable_of_a_node_is_visited_once(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		struct sym_trace t;
		struct sym_walk *w;

		begin_trace(&t);
		for (int v = 0; v < 4; v++)
			add_byte(&t, 0, (uint64_t)v, 0);
		random_expressions(&t, 40);
		w = sym_walk_new(&t);
		for (uint32_t n = 0; n < t.node_count; n++) {
			struct found f = {0};

			sym_walk_vars(w, n, note_var, &f);
			assert_int_equal(f.vars, n ? slow_vars(&t, n) : 0);
			assert_int_equal(f.calls, __builtin_popcount(f.vars));
		}
		sym_walk_free(w);
		sym_trace_release(&t);
	}
}

/* ---- the solver's answers ---- */

static bool all_hold(const struct sym_trace *t, const struct sym_fact *facts, size_t count,
		     const uint64_t *values)
{
	uint64_t out[NODES_MAX];
	bool hold = true;

	sym_evaluate(t, values, out);
	for (size_t i = 0; i < count; i++)
		hold &= out[facts[i].node] == facts[i].holds;
	return hold;
}

/* Whether some values of the two variables fulfil the facts.  Variables that are `fixed` have the
 * value of the run. */
static bool some_values_do(const struct sym_trace *t, const struct sym_fact *facts, size_t count,
			   const bool *fixed)
{
	for (unsigned i = 0; i < 65536; i++) {
		uint64_t values[] = {i & 255, i >> 8};

		if ((fixed[0] && values[0] != t->vars[0].value) ||
		    (fixed[1] && values[1] != t->vars[1].value))
			continue;
		if (all_hold(t, facts, count, values))
			return true;
	}
	return false;
}

/* Makes a path of the run whose last condition is inverted, as in the queries of raddle
 * classify. */
static size_t make_path(struct sym_trace *t, struct sym_fact *facts)
{
	uint64_t values[VARS_MAX], out[NODES_MAX];
	size_t count = 0;

	sym_trace_values(t, values);
	sym_evaluate(t, values, out);
	for (uint32_t n = (uint32_t)t->node_count; n-- > 1 && count < 4;)
		if (t->nodes[n].bits == 1)
			facts[count++] = (struct sym_fact){n, out[n]};
	if (count)
		facts[count - 1].holds = !facts[count - 1].holds;
	return count;
}

static void answers_are_those_of_trying_all_values(void **state)
{
	enum { QUESTIONS = 60 };
	unsigned yes = 0, no = 0;

	(void)state;
	for (int i = 0; i < QUESTIONS; i++) {
		struct sym_trace t;
		struct sym_solver *s;
		struct sym_fact facts[4];
		bool fixed[VARS_MAX] = {draw(6) == 0, draw(6) == 0};
		uint64_t values[VARS_MAX];
		enum sym_answer answer;
		size_t count;

		begin_trace(&t);
		add_byte(&t, 0, 0, (uint8_t)draw(256));
		add_byte(&t, 0, 1, (uint8_t)draw(256));
		random_expressions(&t, 24);
		count = make_path(&t, facts);
		s = sym_solver_new(&t, 100000000);
		if (!s)
			skip(); /* Z3 is not installed */
		sym_solver_fix(s, fixed);
		sym_trace_values(&t, values);
		answer = count ? sym_solve(s, facts, count, 1, values) : SYM_UNKNOWN;
		if (answer == SYM_YES) {
			assert_true(all_hold(&t, facts, count, values));
			assert_true(!fixed[0] || values[0] == t.vars[0].value);
			assert_true(!fixed[1] || values[1] == t.vars[1].value);
		}
		if (answer == SYM_NO)
			assert_false(some_values_do(&t, facts, count, fixed));
		yes += answer == SYM_YES;
		no += answer == SYM_NO;
		sym_solver_free(s);
		sym_trace_release(&t);
	}
	assert_true(yes > 5 && no > 5); /* both answers occurred */
}

/* An argument cannot contain a zero byte, but standard input can. */
static void bytes_of_arguments_are_not_zero(void **state)
{
	(void)state;
	for (uint32_t kind = RADDLE_INPUT_ARGV; kind <= RADDLE_INPUT_STDIN; kind++) {
		struct sym_trace t;
		struct sym_solver *s;
		struct sym_cost cost;
		uint64_t values[VARS_MAX];
		uint32_t zero, is;

		begin_trace(&t);
		t.inputs[0].kind = kind;
		add_byte(&t, 0, 0, 'x');
		zero = add_node(&t, (struct raddle_expr){.op = RADDLE_EXPR_CONST, .bits = 8});
		is = add_node(&t, (struct raddle_expr){.op = RADDLE_EXPR_EQ, .bits = 1, .a = 1, .b = zero});
		s = sym_solver_new(&t, 100000000);
		if (!s)
			skip();
		sym_trace_values(&t, values);
		assert_int_equal(sym_solve(s, &(struct sym_fact){is, true}, 1, 1, values),
				 kind == RADDLE_INPUT_ARGV ? SYM_NO : SYM_YES);
		cost = sym_solver_cost(s);
		assert_true(cost.work > 0 && cost.seconds >= 0);
		assert_int_equal(sym_solver_cost(s).work, 0);
		sym_solver_free(s);
		sym_trace_release(&t);
	}
}

/* ---- reading a trace from memory ---- */

struct image {
	char *memory;
	struct raddle_shadow *header;
};

static void put(struct image *m, uint64_t at, const void *from, size_t size)
{
	memcpy(m->memory + at, from, size);
}

/* Makes the memory that a program with this trace would leave. */
static void make_image(struct image *m, const struct sym_trace *t)
{
	m->memory = mmap(NULL, RADDLE_SHADOW_SIZE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(m->memory != MAP_FAILED);
	m->header = (void *)m->memory;
	m->header->version = RADDLE_SHADOW_VERSION;
	m->header->active = 1;
	m->header->node_count = (uint32_t)t->node_count;
	m->header->var_count = (uint32_t)t->var_count;
	m->header->step_count = (uint32_t)t->step_count;
	m->header->output_count = (uint32_t)t->output_count;
	m->header->table_count = (uint32_t)t->table_count;
	m->header->text_used = (uint32_t)t->text_length;
	m->header->input_count = (uint32_t)t->input_count;
	memcpy(m->header->inputs, t->inputs, sizeof t->inputs);
	put(m, RADDLE_SHADOW_NODES_AT, t->nodes, t->node_count * sizeof *t->nodes);
	put(m, RADDLE_SHADOW_VARS_AT, t->vars, t->var_count * sizeof *t->vars);
	put(m, RADDLE_SHADOW_STEPS_AT, t->steps, t->step_count * sizeof *t->steps);
	put(m, RADDLE_SHADOW_OUTPUT_AT, t->output, t->output_count * sizeof *t->output);
	put(m, RADDLE_SHADOW_TABLES_AT, t->tables, t->table_count * 256 * sizeof *t->tables);
	put(m, RADDLE_SHADOW_TEXT_AT, t->text, t->text_length);
}

static void make_sound(struct sym_trace *t)
{
	begin_trace(t);
	strcpy(t->text, "in.txtHOME");
	t->text_length = 10;
	t->inputs[0] = (struct raddle_shadow_input){.kind = RADDLE_INPUT_FILE, .length = 6};
	t->inputs[1] = (struct raddle_shadow_input){.kind = RADDLE_INPUT_ENV, .name = 6, .length = 4};
	t->input_count = 2;
	add_byte(t, 0, 3, 'a');
	add_byte(t, 1, 0, 'b');
	random_expressions(t, 30);
	t->steps[0] = (struct raddle_shadow_step){
		.cond = add_node(t, (struct raddle_expr){.op = RADDLE_EXPR_EQ, .bits = 1, .a = 1, .b = 2})};
	t->output[0] = (struct raddle_shadow_byte){.fd = 1, .node = 2, .step = 1};
	t->step_count = t->output_count = 1;
}

static int read_image(const struct image *m)
{
	struct sym_trace t;
	int err;

	rd_log_set(rd_log_discard, NULL);
	err = sym_trace_read(&t, m->memory, RADDLE_SHADOW_SIZE);
	rd_log_set(NULL, NULL);
	sym_trace_release(&t);
	return err;
}

static void a_trace_is_read_as_it_was_written(void **state)
{
	struct sym_trace t, back;
	struct image m;

	(void)state;
	make_sound(&t);
	make_image(&m, &t);
	assert_int_equal(sym_trace_read(&back, m.memory, RADDLE_SHADOW_SIZE), RD_OK);
	assert_int_equal(back.node_count, t.node_count);
	assert_memory_equal(back.nodes, t.nodes, t.node_count * sizeof *t.nodes);
	assert_memory_equal(back.vars, t.vars, t.var_count * sizeof *t.vars);
	assert_memory_equal(back.steps, t.steps, sizeof *t.steps);
	assert_memory_equal(back.output, t.output, sizeof *t.output);
	assert_memory_equal(back.tables, t.tables, 256 * sizeof *t.tables);
	assert_string_equal(back.text, "in.txtHOME");
	sym_trace_release(&back);
	m.header->active = 0;
	assert_int_equal(read_image(&m), RD_ETOOL); /* the runtime did not start */
	m.header->active = 1;
	m.header->version++;
	assert_int_equal(read_image(&m), RD_ETOOL);
	munmap(m.memory, RADDLE_SHADOW_SIZE);
	sym_trace_release(&t);
}

/* Each member that refers to something gets a value that is out of range. */
static void damaged_traces_are_refused(void **state)
{
	struct sym_trace t;
	struct image m;
	struct raddle_expr *nodes;
	struct raddle_shadow_var *vars;
	struct raddle_shadow_step *steps;
	struct raddle_shadow_byte *output;
	uint32_t last;

	(void)state;
	make_sound(&t);
	make_image(&m, &t);
	assert_int_equal(read_image(&m), RD_OK);
	nodes = (void *)(m.memory + RADDLE_SHADOW_NODES_AT);
	vars = (void *)(m.memory + RADDLE_SHADOW_VARS_AT);
	steps = (void *)(m.memory + RADDLE_SHADOW_STEPS_AT);
	output = (void *)(m.memory + RADDLE_SHADOW_OUTPUT_AT);
	last = (uint32_t)t.node_count - 1; /* the comparison of two bytes */

#define DAMAGE(what, value)                                                                                  \
	do {                                                                                                 \
		__typeof__(what) kept_ = what;                                                               \
		what = (value);                                                                              \
		assert_int_equal(read_image(&m), RD_EFORMAT);                                                \
		what = kept_;                                                                                \
	} while (0)
	DAMAGE(nodes[last].op, RADDLE_EXPR_OPS);
	DAMAGE(nodes[last].op, RADDLE_EXPR_NONE);
	DAMAGE(nodes[last].a, last);	 /* the node refers to itself */
	DAMAGE(nodes[last].a, last + 1); /* the node refers to a later one */
	DAMAGE(nodes[last].a, 0);
	DAMAGE(nodes[last].c, 1); /* the node has no third operand */
	DAMAGE(nodes[last].bits, 8);
	DAMAGE(nodes[last].bits, 0);
	DAMAGE(nodes[1].bits, 65);
	DAMAGE(nodes[1].k, 2); /* there is no such variable */
	DAMAGE(nodes[1].k, 1); /* the variable of another node */
	DAMAGE(vars[0].sort, RADDLE_VAR_SORTS);
	DAMAGE(vars[0].input, 2);
	DAMAGE(vars[0].node, 2);
	DAMAGE(vars[0].node, UINT32_MAX);
	DAMAGE(vars[0].offset, RADDLE_SHADOW_BYTES);
	DAMAGE(vars[0].length, RADDLE_SHADOW_BYTES + 1);
	DAMAGE(vars[0].text_length, 11);
	DAMAGE(vars[1].text, UINT32_MAX);
	DAMAGE(steps[0].cond, 0);
	DAMAGE(steps[0].cond, last + 1);
	DAMAGE(steps[0].cond, 1); /* eight bits are not a condition */
	DAMAGE(output[0].node, 0);
	DAMAGE(output[0].node, last + 1);
	DAMAGE(output[0].step, 2);
	DAMAGE(m.header->inputs[0].kind, RADDLE_INPUT_KINDS);
	DAMAGE(m.header->inputs[0].kind, RADDLE_INPUT_STDIN); /* standard input has no name */
	DAMAGE(m.header->inputs[0].length, 0);
	DAMAGE(m.header->inputs[1].length, 5);
	DAMAGE(m.memory[RADDLE_SHADOW_TEXT_AT + 2], 0); /* a zero byte in a name */
#undef DAMAGE
	assert_int_equal(read_image(&m), RD_OK);
	/* more than there is memory for */
	m.header->step_count = m.header->output_count = UINT32_MAX;
	assert_int_equal(read_image(&m), RD_EFORMAT);
	munmap(m.memory, RADDLE_SHADOW_SIZE);
	sym_trace_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_those_of_the_slow_evaluator),
		cmocka_unit_test(values_of_the_run_have_the_width_of_their_variable),
		cmocka_unit_test(each_variable_of_a_node_is_visited_once),
		cmocka_unit_test(answers_are_those_of_trying_all_values),
		cmocka_unit_test(bytes_of_arguments_are_not_zero),
		cmocka_unit_test(a_trace_is_read_as_it_was_written),
		cmocka_unit_test(damaged_traces_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
