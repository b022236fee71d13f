// SPDX-License-Identifier: Apache-2.0
/* Unit tests of ir/constrain.h: what pointers in small modules may point to. */
#include "ir-text.h"

#include "ir/constrain.h"

/* Whether the value may point to the global. */
static bool points_to(const struct facts *f, uint32_t value, const char *global)
{
	struct facts_run run = facts_members_of(f, f->values[value].set);

	for (uint32_t i = run.first; i < run.end; i++) {
		const struct facts_object *o = &f->objects[f->places[f->members[i].place].object];
		if (o->kind == FACTS_OBJECT_GLOBAL &&
		    !strcmp(facts_string(f, f->globals[o->origin].linkage), global))
			return true;
	}
	return false;
}

/* A value of 5001 pointers is copied.  The analysis merges the elements of an array, so only the
 * pointer after the 5000 elements is distinguished from them. */
static void test_large_values(void **state)
{
	static const char text[] =
		"@x = global i32 0\n"
		"%both = type { [5000 x ptr], ptr }\n"
		"@from = global %both zeroinitializer\n@to = global %both zeroinitializer\n"
		"define i32 @main() {\n"
		"  store ptr @x, ptr getelementptr (i8, ptr @from, i64 40000)\n"
		"  %all = load [5001 x ptr], ptr @from\n"
		"  store [5001 x ptr] %all, ptr @to\n"
		"  %last = load ptr, ptr getelementptr (i8, ptr @to, i64 40000)\n"
		"  store i32 1, ptr %last\n"
		"  ret i32 0\n}\n";
	LLVMContextRef context = LLVMContextCreate();
	LLVMModuleRef module = ir_text_parse(context, text);
	struct ir_program p;

	(void)state;
	ir_program_init(&p, module);
	ir_constrain(&p, 0);
	uint32_t last = ir_program_value(&p, ir_text_find(module, "main", "last"));
	struct facts *f = ir_program_finish(&p);
	assert_true(points_to(f, last, "x"));
	facts_free(f);
	ir_program_release(&p);
	LLVMDisposeModule(module);
	LLVMContextDispose(context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
