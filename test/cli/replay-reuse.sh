#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A schedule names an access by its number at a site.  The flavours `record` and `led` count the same
# accesses, also if memory is freed and allocated again between two operations of a thread.
. "$ROOT/test/lib.sh"

cat >reuse.c <<'C'
#include <pthread.h>
#include <stdlib.h>
static int x;
__attribute__((noinline)) static void touch(volatile int *p) { *p = 1; }
static void *run(void *argument)
{
	for (int i = 0; i < 3; i++) {
		int *block = malloc(40);
		touch(block);
		free(block);
	}
	touch(&x);
	return argument;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, NULL, run, NULL);
	int seen = x;
	pthread_join(t, NULL);
	return seen > 1;
}
C
"$RADDLE" cc -O1 -g -pthread reuse.c -o reuse && "$RADDLE" record -o trace -- ./reuse 2>/dev/null || fail "not recorded"
"$RADDLE" predict --schedules found trace >/dev/null
grep -q '^hold	T_0_0	1	[0-9]*	4	write	x	' found/*.schedule || fail "the write to x is not the fourth: $(cat found/*.schedule)"
for flavour in record full; do
	"$RADDLE" replay --flavour "$flavour" found/*.schedule -- ./reuse >out 2>&1
	grep -q 'Raddle: 1 bug' out || complain "$flavour: $(cat out)"
done
verdict
