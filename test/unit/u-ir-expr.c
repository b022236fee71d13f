// SPDX-License-Identifier: Apache-2.0
/* Unit tests of ir/expr.h: expressions are parsed to trees, which are printed with all
 * parentheses. */
#include "ir/expr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void show(const struct ir_expr *x, struct rd_buf *out);

static void show_op(int op, struct rd_buf *out)
{
	static const char *const longer[] = {"==", "!=", "<=", ">=", "&&", "||", "<<", ">>"};

	if (op < 256)
		rd_buf_addc(out, (char)op);
	else
		rd_buf_adds(out, longer[op - 256]);
}

static void show_number(const struct ir_expr *x, struct rd_buf *out)
{
	rd_buf_addf(out, "%llu%s%s", (unsigned long long)x->value, x->type.is_signed ? "" : "u",
		    x->type.bits == 64 ? "l" : "");
}

static void show(const struct ir_expr *x, struct rd_buf *out)
{
	switch (x->kind) {
	case IR_EXPR_INTEGER: show_number(x, out); return;
	case IR_EXPR_REAL: rd_buf_addf(out, "%g", x->real); return;
	case IR_EXPR_NAME: rd_buf_adds(out, x->name); return;
	default: break;
	}
	rd_buf_addc(out, '(');
	if (x->kind == IR_EXPR_CAST)
		rd_buf_addf(out, "%s%s%u ", x->type.is_real ? "real" : "", x->type.is_signed ? "s" : "u",
			    x->type.bits);
	if (x->kind == IR_EXPR_UNARY)
		show_op(x->op, out);
	show(x->a, out);
	if (x->kind == IR_EXPR_BINARY)
		show_op(x->op, out);
	if (x->kind == IR_EXPR_MEMBER)
		rd_buf_addf(out, ".%s", x->name);
	if (x->kind == IR_EXPR_CHOICE || x->kind == IR_EXPR_INDEX)
		rd_buf_addc(out, x->kind == IR_EXPR_CHOICE ? '?' : '[');
	if (x->b)
		show(x->b, out);
	if (x->c) {
		rd_buf_addc(out, ':');
		show(x->c, out);
	}
	rd_buf_addc(out, ')');
}

static void expect(const char *text, const char *wanted)
{
	struct rd_arena *arena = rd_arena_new();
	struct rd_buf why = RD_BUF_INIT, got = RD_BUF_INIT;
	struct ir_expr *x = ir_expr_parse(text, arena, &why);

	if (x)
		show(x, &got);
	else
		rd_buf_addf(&got, "! %s", why.data);
	if (strcmp(got.data, wanted) != 0)
		fail_msg("%s: %s instead of %s", text, got.data, wanted);
	rd_buf_release(&why);
	rd_buf_release(&got);
	rd_arena_free(arena);
}

static void operators_bind_as_in_c(void **state)
{
	(void)state;
	expect("a + b * c", "(a+(b*c))");
	expect("a - b - c", "((a-b)-c)");
	expect("a || b && c | d ^ e & f == g < h << i + j % k",
	       "(a||(b&&(c|(d^(e&(f==(g<(h<<(i+(j%k))))))))))");
	expect("a>>1>=b!=c<=d", "(((a>>1)>=b)!=(c<=d))");
	expect("a ? b : c ? d : e", "(a?b:(c?d:e))");
	expect("-a + !b - ~*&c", "(((-a)+(!b))-(~(*(&c))))");
	expect("(a + b) * c", "((a+b)*c)");
}

static void parts_of_objects(void **state)
{
	(void)state;
	expect("p->q[i + 1].r->s", "((*((((*p).q)[(i+1)).r)).s)");
	expect("*p.x", "(*(p.x))");
	expect("a[b[c]]", "(a[(b[c))");
}

static void numbers(void **state)
{
	(void)state;
	expect("0", "0");
	expect("0x10", "16");
	expect("010", "8");
	expect("2147483648", "2147483648l");
	expect("0x80000000", "2147483648u");
	expect("5u", "5u");
	expect("5ul", "5ul");
	expect("18446744073709551615", "18446744073709551615ul");
	expect("1.5", "1.5");
	expect(".5f", "0.5");
	expect("1e3", "1000");
	expect("0x1e", "30");
	expect("'a'", "97");
	expect("'\\n'", "10");
	expect("'\\0'", "0");
	expect("NULL", "0l");
	expect("true + false", "(1+0)");
}

static void casts(void **state)
{
	(void)state;
	expect("(unsigned)a", "(u32 a)");
	expect("(unsigned long)a + b", "((u64 a)+b)");
	expect("(long int)a", "(s64 a)");
	expect("(unsigned char)a", "(u8 a)");
	expect("(double)a", "(reals64 a)");
	expect("(uint16_t)a", "(u16 a)");
	expect("(a)", "a");
	expect("(interior)", "interior");
	expect("(a) - b", "(a-b)");
	expect("(a * b) + 1", "((a*b)+1)");
	expect("(a) ? (b) : 1", "(a?b:1)");
}

static void what_is_refused(void **state)
{
	(void)state;
	expect("", "! the expression ends too early at ''");
	expect("a +", "! the expression ends too early at ''");
	expect("a b", "! unexpected text after the expression at 'b'");
	expect("(a", "! no closing parenthesis at ''");
	expect("a[1", "! no closing bracket at ''");
	expect("f(1)", "! a call cannot be evaluated at '(1)'");
	expect("a = 1", "! a predicate cannot change anything at '= 1'");
	expect("a += 1", "! a predicate cannot change anything at '= 1'");
	expect("a++", "! a predicate cannot change anything at ''");
	expect("--a", "! a predicate cannot change anything at 'a'");
	expect("a ? b", "! no ':' after '?' at ''");
	expect("1x", "! not a number at '1x'");
	expect("''", "! a character constant without its closing quote at ''''");
	expect("'ab'", "! a character constant without its closing quote at ''ab''");
	expect("(int *)a", "! a cast to this type is not supported at '(int *)a'");
	expect("b + (struct s *)a", "! a cast to this type is not supported at '(struct s *)a'");
	expect("(other_t)a", "! a cast to this type is not supported at '(other_t)a'");
	expect("(a)(b)", "! a cast to this type is not supported at '(a)(b)'");
	expect("sizeof a", "! sizeof is not supported at 'sizeof a'");
	expect("p->", "! the name of a member was expected at ''");
	expect("99999999999999999999", "! the number is too large at '99999999999999999999'");
	expect("@", "! an expression was expected at '@'");
}

static void nesting_has_an_end(void **state)
{
	char text[2001];
	struct rd_arena *arena = rd_arena_new();
	struct rd_buf why = RD_BUF_INIT;

	(void)state;
	for (const char *c = "(-!"; *c; c++) {
		memset(text, *c, sizeof text - 1);
		text[sizeof text - 1] = '\0';
		rd_buf_clear(&why);
		assert_null(ir_expr_parse(text, arena, &why));
		assert_true(why.length > 0);
	}
	rd_buf_release(&why);
	rd_arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_bind_as_in_c),
		cmocka_unit_test(parts_of_objects),
		cmocka_unit_test(numbers),
		cmocka_unit_test(casts),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(nesting_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
