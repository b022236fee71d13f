#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# raddle slice --track: a run reports what happened at the statements of a slice, in order and with
# values, how and where it ended, and which other statements accessed the same memory.
# sanitizers: yes, runs slice/, and the flavour that follows a slice
. "$ROOT/test/lib.sh"
export RADDLE_CACHE=$PWD/cache

cat >program.c <<'C'
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct box { int pad, *number; };
static struct box *box;
static atomic_int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int unrelated;
static void *first(void *argument)
{
	struct box *mine = argument;
	for (int i = 39; i < 42; i++)
		*mine->number = i; /* first */
	unrelated++;
	return NULL;
}
static void *second(void *argument)
{
	struct box *mine = argument;
	atomic_fetch_add(&count, 2); /* update */
	*mine->number += 1; /* second */
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t a, b;
	const char *how = argc > 1 ? argv[1] : "";
	box = malloc(sizeof *box);
	box->number = malloc(sizeof *box->number);
	pthread_create(&a, NULL, first, box);
	pthread_join(a, NULL);
	pthread_create(&b, NULL, second, box);
	pthread_join(b, NULL);
	if (!strcmp(how, "fork") && !fork())
		_exit(*box->number == 42 ? 0 : 1);
	if (!strcmp(how, "null"))
		box->number = NULL; /* null */
	if (!strcmp(how, "free"))
		free(box->number); /* free */
	if (!strcmp(how, "hang")) {
		pthread_mutex_lock(&lock); /* lock */
		pthread_mutex_lock(&lock); /* again */
	}
	if (!strcmp(how, "assert"))
		assert(count == 3); /* assertion */
	printf("%d\n", *box->number); /* failure */
	return !strcmp(how, "exit") ? 3 : 0;
}
C
line() { grep -n "/\* $1" program.c | head -1 | cut -d: -f1; }
"$RADDLE" cc -w -g -O2 -pthread program.c -o program || fail "does not compile"
track() {
	local at=$1
	shift
	"$RADDLE" slice --at "program.c:$(line "$at")" --track --json=run.json "$@" >text || fail "$at $*: not tracked"
}
wants() {
	jq -e --argjson first "$(line first)" --argjson second "$(line second)" --argjson update "$(line update)" --argjson free "$(line free)" \
		--argjson null "$(line null)" --argjson again "$(line again)" --argjson failure "$(line failure)" --argjson assertion "$(line assertion)" \
		'.run as $r | [$r.events[] | . + $r.statements[.statement]] as $e | '"$1" run.json >/dev/null || complain "$2"
}

# --json FILE may be two words, with and without arguments of the program.
at=program.c:$(line failure)
"$RADDLE" slice --at "$at" --track --json words.json ./program >text && jq -e '.run.outcome == "passed"' words.json >/dev/null || complain "--json FILE PROG"
"$RADDLE" slice --at "$at" --track --json words.json ./program -- exit >text && jq -e '.run.outcome == "exit"' words.json >/dev/null || complain "--json FILE PROG -- ARG: $(jq -c .run.outcome words.json)"
"$RADDLE" slice --at "$at" --track --json ./program -- exit | sed -n '/^{/,$p' | jq -e '.run.outcome == "exit"' >/dev/null || complain "--json PROG -- ARG"

# Events are in order, with values and threads.  Writes through other pointers are found.
track failure ./program
grep -qx 42 text || complain "the output of the program is not there"
wants '$r.outcome == "passed" and $r.signature == null and ($r.cut | not)' "a run that passes"
wants '[$e[] | select(.kind == "write" and .size == 4 and .line != $update) | [.thread, .line, .value, .found]] == [[1, $first, 39, true], [1, $first, 40, true], [1, $first, 41, true], [2, $second, 42, true]]' "the writes of the number"
wants '[$e[] | select(.line == $failure and .kind == "read" and .size == 4) | [.thread, .value]] == [[0, 42]]' "the read of the number"
wants '[$e[] | select(.variable == "unrelated")] == []' "something unrelated was found"

# With only the nearest statement, there are fewer gates, and no events for memory that only other
# statements access.
all=$(jq '.run.events | length' run.json)
track failure --sigma 1 ./program
wants '($r.events | length) > 0 and ($r.events | length) < '"$all" "--sigma leaves nothing out"

track failure --budget 1 ./program
wants '$r.cut and $r.spent > 0 and [$e[] | select(.kind == "write" and .size == 4 and .line == $first) | .value] == [39]' "--budget"

# Failures: their place, their thread, and what came before.
track failure ./program -- null
wants '$r.outcome == "crash" and ($r.signature | startswith("crash SIGSEGV in main() program.c:")) and $r.failure.thread == 0 and $r.failure.line == $failure' "a crash"
wants '[$e[] | select(.line == $null and .kind == "write") | .value] == [0]' "the write of NULL"
wants '$e[-1] | .line == $failure and .size == 0' "the last event is the read that failed"
track failure ./program -- free
wants '[$e[] | select(.operation == "free" or (.line == $failure and .kind == "read" and .size == 4)) | .line] == [$free, $failure] and
	([$e[] | select(.operation == "free") | .address] == [$e[] | select(.line == $failure and .kind == "read" and .size == 4) | .address])' "memory that is used after it was freed"
track assertion ./program -- assert
wants '$r.outcome == "assertion" and $r.failure.line == $assertion and ($r.failure.message | test("count == 3"))' "an assertion"
wants '[$e[] | select(.line == $update) | [.kind, .value]] == [["read", 0], ["write", 2]]' "an atomic update"
track again --timeout 1s ./program -- hang
wants '$r.outcome == "hang" and ($e[-1] | .line == $again and .operation == "mutex-lock" and .size == 0)' "a hang"
track failure ./program -- exit
wants '$r.outcome == "exit" and $r.signature == "exit status 3"' "an exit status"
track failure ./program -- fork
wants '$r.outcome == "passed" and ([$e[].thread] | max) == 2' "a fork"
track failure --perturb 7 --hardware ./program
wants '$r.outcome == "passed" and $r.perturbed and ($r.no_hardware or $r.watched > 0)' "delays and watchpoints"
wants '[$e[] | select(.kind == "write" and .size == 4 and .line == $first) | .value] == [39, 40, 41]' "values with watchpoints"

# When the gates of a loop have had all their events, the loop continues in a copy without gates
# (instr/track/ungated.c).  The program behaves the same, wherever the copies are exchanged.  Each
# gate has as many events as it may have.
cat >loops.cc <<'C'
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
static long total, table[64];
static long weight(long i) { if (i % 97 == 96) throw std::runtime_error("odd"); return i % 7; }
static void fill(long rounds)
{
	for (long i = 0; i < rounds; i++) {
		for (long k = 0; k < 64; k++) {
			if (k > i % 64)
				break;
			table[k] += i ^ k; /* inner */
		}
		try {
			total += weight(i); /* outer */
		} catch (const std::runtime_error &) {
			if (i > 5000)
				return;
			total -= 1;
			continue;
		}
		long n = i;
		do
			total += n & 1;
		while (n /= 2);
	}
}
int main(int, char **argv)
{
	fill(atol(argv[1]));
	for (long k = 0; k < 64; k++)
		total += table[k] * k;
	printf("%ld\n", total); /* loops */
}
C
"$RADDLE" c++ -g -O1 -o loops loops.cc 2>message || complain "loops.cc does not build"
at=$(grep -n '/\* loops \*/' loops.cc | cut -d: -f1)
inner=$(grep -n '/\* inner \*/' loops.cc | cut -d: -f1)
expected=$(./loops 6000)
for budget in 1 64 1000; do
	"$RADDLE" slice --at "loops.cc:$at" --track --budget $budget ./loops -- 6000 >out 2>message || complain "loops: --track fails with a budget of $budget"
	grep -qx -- "$expected" out || complain "loops: another result with a budget of $budget"
	[ "$(grep -c "writes table\[\] *loops.cc:$inner " out)" = $budget ] || complain "loops: not $budget events at the inner loop"
done

"$RADDLE" slice --at "program.c:$(line failure)" --track ./nowhere >out 2>message
[ $? = 2 ] || complain "a program that is not there"
verdict
