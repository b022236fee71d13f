#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A trace that needs more memory than allowed is analysed in parts, and the report says what that
# means.
. "$ROOT/test/lib.sh"

number() { # NAME FILE
	python3 -c 'import json, sys; print(int(json.load(open(sys.argv[2]))["stats"].get(sys.argv[1], -1)))' "$1" "$2"
}
objects() { # FILE
	python3 -c 'import json, sys
print(" ".join(sorted({f["object"] for f in json.load(open(sys.argv[1]))["findings"]})))' "$1"
}

"$RADDLE" cc -g -O1 -pthread -o late-race "$ROOT/test/prog/late-race.c" || fail "it does not compile"
"$RADDLE" record -o trace ./late-race 20000 2> record.err || fail "not recorded: $(cat record.err)"

"$RADDLE" predict --memory 0 --json trace > whole.json 2> whole.err || fail "predict: $(cat whole.err)"
[ "$(number parts whole.json)" = -1 ] || complain "it was cut without a limit"
"$RADDLE" predict --memory 8M --json trace > parts.json 2> parts.err || fail "predict --memory: $(cat parts.err)"
[ "$(number parts parts.json)" -ge 2 ] || complain "$(number parts parts.json) parts"
[ "$(number parts_skipped parts.json)" = 0 ] || complain "parts were left out"
[ "$(number considered whole.json)" = "$(number considered parts.json)" ] ||
	complain "the parts are not the whole: $(number considered parts.json) of $(number considered whole.json)"
[ "$(objects whole.json)" = "early late" ] || complain "found in the whole: $(objects whole.json)"
[ "$(objects parts.json)" = "early late" ] || complain "found in parts: $(objects parts.json)"
"$RADDLE" predict --memory 8M trace > parts.txt 2>&1
grep -q 'examined in [0-9]* parts' parts.txt || complain "nothing is said about parts: $(tail -3 parts.txt)"

# The last part is examined directly after the first one, in case there is no time for the rest.
"$RADDLE" predict -v --memory 8M --json=again.json trace 2>&1 >/dev/null | sed -n 's/.*predict: part //p' > order
python3 - order << 'END' || complain "the order of the parts: $(tr '\n' ',' < order)"
import sys
order = [tuple(map(int, line.split(" of "))) for line in open(sys.argv[1])]
count = order[-1][1]
whole = [at for at, of in order if of == count]  # the parts since the last time that it was cut
sys.exit(whole[-count:] != [1, count] + list(range(2, count)))
END

# The schedule of a race in a late part leads to the race.
"$RADDLE" check -v --no-classify --memory 8M --json found.json -o checked -- ./late-race 20000 > check.out 2>&1
[ $? = 1 ] || complain "check: $(tail -5 check.out)"
grep -q 'examined in [0-9]* parts' check.out || complain "check says nothing about parts"
python3 - found.json << 'END' || complain "not both races are confirmed: $(tail -30 check.out)"
import json, sys
found = json.load(open(sys.argv[1]))["findings"]
sys.exit({f["object"] for f in found if f["status"] == "confirmed"} != {"early", "late"})
END

# The early race is confirmed before the last part is examined.
sed -n '/predict: part 5 of/q;p' check.out | grep -q 'data race.*late-race.c:18' ||
	complain "the first confirmation waits for all of the prediction: $(grep -n 'predict: part\|data race' check.out)"
[ "$(grep -c '^BUG [12] of 2  data race' check.out)" = 2 ] || complain "not each race is reported once"

# Few records can be many events: one thread clears memory as a whole, and others access it in
# pieces.
cat > wide.c << 'END'
#include <pthread.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long cells[512];
static void *clear(void *argument)
{
	for (int i = 0; i < 600; i++) {
		pthread_mutex_lock(&lock);
		memset(cells, 0, sizeof cells);
		pthread_mutex_unlock(&lock);
	}
	return argument;
}
static void *count(void *argument)
{
	for (int i = 0; i < 512 * 20; i++) {
		pthread_mutex_lock(&lock);
		cells[i % 512]++;
		pthread_mutex_unlock(&lock);
	}
	return argument;
}
int main(void)
{
	pthread_t one, two;
	pthread_create(&one, NULL, clear, NULL);
	pthread_create(&two, NULL, count, NULL);
	pthread_join(one, NULL);
	pthread_join(two, NULL);
	return 0;
}
END
"$RADDLE" cc -g -O1 -pthread -o wide wide.c || fail "it does not compile"
"$RADDLE" record -o wide.trace ./wide 2> record.err || fail "not recorded: $(cat record.err)"
"$RADDLE" predict --memory 0 --json wide.trace > wide.json 2> wide.err || fail "predict: $(cat wide.err)"
[ "$(number considered wide.json)" -gt 200000 ] || complain "only $(number considered wide.json) events"
"$RADDLE" predict --memory 16M --json wide.trace > cut.json 2> cut.err || fail "predict: $(cat cut.err)"
[ "$(number parts cut.json)" -ge 2 ] || complain "$(number parts cut.json) parts of a trace that is wide"

for bad in -1 x 5q; do
	"$RADDLE" predict --memory=$bad trace > /dev/null 2>&1 && complain "--memory=$bad is taken"
done
verdict
