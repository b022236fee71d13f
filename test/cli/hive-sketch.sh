#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A failure in production: the hive gets a plan, sites track runs as it asks, and the hive explains
# why the program fails.  No value leaves a site that does not allow it.
# timeout: 600
. "$ROOT/test/lib.sh"
. "$ROOT/test/cli/hive-lib.bash"
export RADDLE_CACHE=$PWD/cache
unset RADDLE_GUARD_OFF RADDLE_HIVE_TOKEN
ulimit -c 0

cat >prog.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
static sem_t go;
static int *number;
static void *reader(void *unused)
{
	sem_wait(&go);
	*number = 7 + *number;
	sem_post(&go);
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t t;
	int early = argc > 1 && argv[1][0] == 'e', value = 123456789;
	sem_init(&go, 0, 0);
	number = &value;
	pthread_create(&t, NULL, reader, NULL);
	if (early)
		number = NULL;
	sem_post(&go);
	pthread_join(t, NULL);
	number = NULL;
	return 0;
}
C
"$RADDLE" cc -g -O1 -pthread prog.c -o prog || fail "it does not compile"
hive_start
"$RADDLE" hive track --hive "$url" --report prog.c:9 ./prog 2>err && complain "a program that is not known is tracked"
"$RADDLE" hive add --hive "$url" ./prog >added || fail "it is not added"
build=$(jq -r .build added)
# If there are no candidates, all sites get the task.
jq -n --arg build "$build" '{ version: 1, build: $build, name: "prog", candidates: [] }' >program.json
python3 - "$url" <<'PY' || fail "the candidates are not taken away"
import sys, urllib.request
urllib.request.urlopen(urllib.request.Request(sys.argv[1] + "/api/v1/programs", open("program.json", "rb").read(), {"Content-Type": "application/json"}))
PY
"$RADDLE" hive track --hive "$url" --report prog.c:9 ./prog >planned || fail "the failure is not tracked: $(cat err)"
"$RADDLE" hive sketch --hive "$url" ./prog >none 2>&1 && grep -q 'no failing run' none || complain "a sketch without runs says: $(cat none)"

site() {
	timeout 120 "$RADDLE" site run --hive "$url" --state-dir "st$1" --poll-now "${@:3}" -- ./prog "$2" >>site.out 2>>site.err
}
state() {
	"$RADDLE" hive status --hive "$url" --json=- | jq -r '.sketches[0].state'
}
for ((i = 0; i < 100; i++)); do
	site $((i % 2)) $([ $((i % 8)) = 7 ] && echo early || echo late)
	status=$?
	[ $status = $([ $((i % 8)) = 7 ] && echo 139 || echo 0) ] || complain "run $i ended with status $status"
	[ $((i % 8)) = 7 ] && [ "$(state)" = explained ] && break
done
"$RADDLE" hive sketch --hive "$url" --json=why.json ./prog >why.txt || complain "there is no sketch"
jq -e '.sketches[0] | .predictors[0].type == "order" and [.predictors[0].places[].line] == [21, 9] and .failing <= 5 and
	([.steps[].source] | index("number = NULL;") != null) and ([.steps[].values[] | select(.name != "branch")] | length == 0)' why.json >out ||
	complain "the sketch is another one: $(cat why.json)"
grep -q '21 before prog.c:9\|prog.c:21 before' why.txt || complain "the text is another one: $(cat why.txt)"

# A site sends no address, path or value; with --send-values, it sends values.  With --dump-upload,
# nothing is sent.
"$RADDLE" hive track --hive "$url" --report prog.c:23 ./prog >planned || complain "a second failure is not tracked"
for more in "" --send-values; do
	site 2 late
	site 2 late --dump-upload $more
	mv site.err err$more
done
grep -q '/api/v1/runs' err || complain "no run would be sent: $(cat err)"
grep -qE "$PWD|prog\.c|123456789|0x|1234567" err && complain "more would leave the site than should: $(cat err)"
grep -q ',[0-9-]*,8\]' err--send-values || complain "values were allowed and are not there: $(cat err--send-values)"

# A hive that is restarted has the same results.
before=$("$RADDLE" hive status --hive "$url" --json=- | jq -c .sketches)
hive_stop
hive_start
[ "$("$RADDLE" hive status --hive "$url" --json=- | jq -c .sketches)" = "$before" ] || complain "another hive comes to something else"
hive_stop
verdict
