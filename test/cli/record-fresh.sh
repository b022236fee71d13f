#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# With the flavour `full`, new memory is zero whatever its size, so that the old contents of freed
# blocks make no difference between runs.
. "$ROOT/test/lib.sh"

cat >fresh.c <<'C'
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int is_zero(const char *p, size_t n) { return n == 0 || (!p[0] && !memcmp(p, p + 1, n - 1)); }
int main(void)
{
	static const size_t sizes[] = {40, 60000, 65536, 70000, 100000, 200000, 2000000};
	int wrong = 0;
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 7; i++) {
			char *p = malloc(sizes[i]), *wall = malloc(40);
			size_t n = malloc_usable_size(p);
			if (!is_zero(p, n) && ++wrong)
				printf("%zu bytes in round %d\n", sizes[i], round);
			memset(p, 7, n);
			free(p);
			free(wall);
		}
	return wrong != 0;
}
C
"$RADDLE" cc -O1 -g fresh.c -o fresh || fail "does not compile"
"$RADDLE" record --flavour full -o trace -- ./fresh >out 2>err || complain "old data: $(cat out err)"
"$RADDLE" cc -O1 -g -static fresh.c -o static || fail "does not compile statically"
"$RADDLE" record --flavour full -o trace-static -- ./static >out 2>err || complain "old data in a static program: $(cat out err)"
verdict
