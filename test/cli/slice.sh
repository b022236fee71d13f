#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# raddle slice: which statements are in the slice of a place and which are not, across functions and
# threads.  Also tests places without code.
. "$ROOT/test/lib.sh"
export RADDLE_CACHE=$PWD/cache

cat >program.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int limit = 4, unrelated, later;
static int *slot;
static int *make(int n)
{
	int *p = calloc(n, sizeof *p); /* make */
	unrelated++; /* not: nothing reads it */
	return p; /* result */
}
static void *worker(void *argument)
{
	int *mine = argument;
	for (int i = 0; i < limit; i++) /* loop */
		mine[i] += *slot; /* failure */
	later = 1; /* not: behind it */
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t;
	int *p = make(16); /* call */
	slot = p; /* write */
	if (argc > 1)
		limit = atoi(argv[1]); /* limit */
	pthread_create(&t, NULL, worker, p); /* start */
	slot = NULL; /* race */
	pthread_join(t, NULL);
	printf("%d %d\n", unrelated, later); /* not: behind it */
	return 0;
}
C
line() { grep -n "/\* $1" program.c | head -1 | cut -d: -f1; }
"$RADDLE" cc -w -g -O2 -pthread program.c -o program || fail "does not compile"
"$RADDLE" slice --at "program.c:$(line failure)" --json slice.json ./program >text || fail "no slice"

for name in failure loop start call make result write limit race; do
	jq -e --argjson n "$(line "$name")" '[.slice[].line] | index($n)' slice.json >/dev/null || complain "'$name' is not in the slice"
	grep -q "  $(line "$name")  .*/\* $name" text || complain "'$name' is not in the text"
done
grep -q '/\* not' text && complain "something is in the slice that has no part in it"
awk 'length > 80 && !/^(\/|Slice of)/ { exit 1 }' text || complain "the text is wider than 80 columns"
jq -e --argjson n "$(line failure)" '.version == 1 and .at.line == $n and .at.moved == 0 and .slice[0].line == $n and
	([.slice[].statement] | . == sort and .[0] == 0 and (unique | length) == (max + 1)) and
	.stats.statements == ([.slice[].statement] | max) + 1 and
	([.slice[] | select(.operation == "thread-create")] | length) == 1 and
	([.slice[] | select(.variable == "slot" and .kind == "write")] | length) == 2' slice.json >/dev/null || complain "the document is wrong"

# The place may be a line without code, a file with its path, or have a column.
"$RADDLE" slice --at "program.c:$(($(line failure) + 4))" ./program | grep -q nearest || complain "a line without code"
"$RADDLE" slice --at "$PWD/program.c:$(line failure):3" --json ./program | jq -e '.slice | length > 0' >/dev/null || complain "a path and a column"

# refuse TEXT ARGUMENTS...: places that do not exist are refused with this text.
refuse() {
	local wanted=$1
	shift
	"$RADDLE" slice "$@" >out 2>message
	[ $? = 2 ] || complain "slice $*: status"
	grep -q "$wanted" message || complain "slice $*: message"
}
refuse 'no code near this line' --at program.c:900 ./program
refuse 'no code from such a file' --at other.c:3 ./program
refuse 'which place' --at program.c ./program
refuse 'which place' ./program
refuse 'raddle cc' --at program.c:3 /bin/true
verdict
