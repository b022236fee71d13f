#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Failures that exploration found are shown in gdb, which stops at the signal, or where the threads
# hang.  Then the program ends as it does without gdb.
. "$ROOT/test/lib.sh"
shown=(out err)

if ! command -v gdb >/dev/null || ! gdb -batch -ex 'python print(1)' 2>/dev/null | grep -qx 1; then
	echo "there is no gdb with Python"
	exit 77
fi
build_once order cc -O1 -pthread "$ROOT/test/prog/explore/order.c" || exit 1

# in_gdb NAME PATTERN FUNCTION END [ENV...]: gdb shows the failure (PATTERN) with FUNCTION in its
# backtrace, and the run ends as END says.
in_gdb() {
	local name=$1 pattern=$2 function=$3 end=$4
	shift 4
	[ -d "of-$name" ] || "$RADDLE" explore -o "of-$name" -- ./order "$name" >out 2>err </dev/null
	"${@:-env}" "$RADDLE" replay --gdb-args='-batch -ex bt' "of-$name"/*.schedule -- ./order "$name" >out 2>err </dev/null
	grep -qE "$pattern" out || complain "$name: gdb does not show the failure"
	grep -qE "^#[0-9]+ .* $function \(.*order.c:[0-9]+" out || complain "$name: $function is not in the backtrace"
	grep -q "$end" err || complain "$name: it does not end as without gdb"
}
in_gdb lost '^0: T_0 \(thread [0-9]+\) gets signal 6 ' check_balance 'ended by signal 6'
# With an empty environment, there is hardly anything on the stack above main().
in_gdb lost '^0: T_0 \(thread [0-9]+\) gets signal 6 ' check_balance 'ended by signal 6' env -i PATH="$PATH" HOME="$HOME"
in_gdb early '^0: T_0_[01] \(thread [0-9]+\) gets signal 11 ' use 'ended by signal 11'
in_gdb locks '^1: T_0_[01] \(thread [0-9]+\) waits in mutex-lock' '[a-z_]+' 'deadlock'

# A failure of another kind has no place, and the report says so.
cat >status.c <<'E2'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int first;
static void *come(void *who)
{
	pthread_mutex_lock(&lock);
	first = first ? first : *(int *)who;
	pthread_mutex_unlock(&lock);
	return 0;
}
int main(void)
{
	int who[] = {1, 2};
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, come, &who[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	return first == 2 ? 3 : 0;
}
E2
"$RADDLE" cc -O1 -g -pthread status.c -o status || exit 1
"$RADDLE" explore --fail-if 'test $RADDLE_STATUS = 3' -o of-status -- ./status >out 2>err </dev/null
[ -n "$(echo of-status/*.schedule)" ] || complain "no failure"
"$RADDLE" replay --gdb-args=-batch of-status/*.schedule -- ./status >out 2>err </dev/null
grep -q 'gdb was not started' err || complain "nobody says that gdb was not started"
verdict
