#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# timeout: 1800
# Input from outside is replayed: a server is replayed and classified without its client.  What it
# sends is compared, not sent.  Time and random numbers are those of the recorded run.
. "$ROOT/test/lib.sh"

build() {
	build_once "$1" cc -pthread "$ROOT/test/prog/world/$1.c" || fail "$1 cannot be built"
}
build noise
build server
build threads
"${CC:-cc}" -o client "$ROOT/test/prog/world/client.c" || fail "the client cannot be built"
port=$((20000 + ($$ * 7 + 11) % 20000))

# inline TRACE MEMBERS: prints a document with a schedule that leads no thread.
inline() {
	jq -n "{version: 1, findings: [{id: \"0123456789abcdef\", kind: \"race\", status: \"unconfirmed\", class: null,
		consequence: null, object: \"x\", accesses: [],
		schedule_inline: ({version: 2, turns: true, trace: \"$1\"} + {$2})}]}"
}
# recorded TRACE LINES PROGRAM...: records a run with its client.  The signal $stop ends the
# program.
recorded() {
	local trace=$1 lines=$2 server
	shift 2
	"$RADDLE" record -o "$trace" -- "$@" >"$trace.out" 2>"$trace.err" &
	server=$!
	timeout 300 ./client $port "$lines" >"$trace.client" || complain "the client failed: $(cat "$trace.err")"
	[ -z "${stop-}" ] || kill "-$stop" $server
	wait $server || complain "$trace: the server failed: $(cat "$trace.err")"
}

# Time, random numbers and process ids are the same, in whatever order the threads ask for them.
"$RADDLE" record -o noise.trace -- ./noise >noise.out || fail "recording failed"
for seed in 1 2 3; do
	inline noise.trace "seed: $seed" >noise.json
	"$RADDLE" replay -q noise.json -- ./noise >noise.again
	[ $? = 1 ] || complain "noise was not replayed"
	diff noise.out noise.again || complain "the world is another one, seed $seed"
done
"$RADDLE" replay -q --no-world noise.json -- ./noise >noise.again
! cmp -s noise.out noise.again || complain "--no-world gives the world back"

# Both orders of a race get the same input from outside, so nothing is excluded from the comparison.
"$RADDLE" check -q -o noise.check --json=noise.found.json -- ./noise careless >noise.out 2>noise.err
[ "$(jq -r '.findings[0].class' noise.found.json)" = k-witness-harmless ] ||
	complain "the race of noise: $(jq -c '.findings[0] | [.class, .notes]' noise.found.json)"
! grep -q 'were not compared' noise.found.json || complain "lines were left out of the comparison"

# A server that polls behaves the same each time without its client, and ends.
stop=TERM
recorded server.trace 6 ./server $port
inline server.trace 'seed: 7' >server.json
for _ in 1 2 3; do
	timeout 300 "$RADDLE" replay server.json -- ./server $port >server.out 2>server.err </dev/null
	[ "$(cat server.out)" = 'served 6' ] || complain "the server said $(cat server.out): $(cat server.err)"
	grep -q 'replayed: 10 of 10 arrivals' server.err || complain "not all came back: $(cat server.err)"
	! grep -q 'may be different next time' server.err || complain "time had a say: $(cat server.err)"
	grep -o 'trail .*\|digest [0-9a-f]*' server.err >>server.all
done
[ "$(sort -u server.all | wc -l)" = 2 ] || complain "the runs differ: $(sort server.all | uniq -c)"
# The trace of a replay contains the same input from outside.
timeout 300 "$RADDLE" replay -q --record again.trace server.json -- ./server $port >server.out 2>server.err </dev/null
cmp server.trace/world again.trace/world || complain "the trace of a replay has another world"
[ "$(stat -c %a again.trace/world)" = 600 ] || complain "others can read the copy"
"$RADDLE" dump --check again.trace >check.out 2>&1 || complain "its trace is not sound: $(cat check.out)"
# Threads that do not take turns also get the recorded input.
inline server.trace '' | jq '.findings[0].schedule_inline |= {version: 1, trace,
	ops: [{thread: "T_0", n: 2, kind: "thread-create", object: "T_0_0"}]}' >free.json
timeout 300 "$RADDLE" replay free.json -- ./server $port >server.out 2>server.err </dev/null
[ "$(cat server.out)" = 'served 6' ] || complain "without turns: $(cat server.out server.err)"
grep -q 'replayed: 10 of 10 arrivals' server.err || complain "without turns: $(cat server.err)"

# A server has a thread for each connection.  In a replay, it sends what its clients got in the
# recorded run.
stop=
classes() {
	recorded "$1.trace" 6 ./threads $port "$1"
	"$RADDLE" predict --json="$1.found" "$1.trace" >"$1.text"
	timeout 900 "$RADDLE" classify -q -o "$1.classes" --json="$1.json" "$1.found" -- ./threads $port "$1" \
		</dev/null 2>"$1.err"
	jq -r "[.findings[] | select(.object == \"$2\") | .class // .notes[-1]][0]" "$1.json"
}
[ "$(classes noted latest)" = k-witness-harmless ] || complain "noted: $(jq -c '.findings[0].notes' noted.json)"
[ "$(classes counted count)" = output-differs ] || complain "counted: $(jq -c '.findings[0].notes' counted.json)"
inline noted.trace '' >noted.order
timeout 300 "$RADDLE" replay noted.order -- ./threads $port noted >noted.again 2>noted.err </dev/null
diff noted.trace.out noted.again || complain "its output is another one"
grep -q '2 of 2 connections as in the recorded run' noted.err || complain "it sent something else: $(cat noted.err)"

# For threads that wait for a time, time advances without any real waiting.
recorded waits.trace 4 ./threads $port waits
inline waits.trace '' >waits.order
timeout 300 "$RADDLE" replay waits.order -- ./threads $port waits >waits.again 2>waits.err </dev/null
grep -q 'after that the program ended with status 0' waits.err || complain "it waits forever: $(cat waits.err)"

# A connection that the recorded run did not make is refused, and no class is based on that.
classes calls flag >calls.class
grep -q 'unmodelled: the program made a connection that the recorded run did not make' calls.class ||
	complain "made up: $(cat calls.class; jq -c '.findings[0].notes' calls.json)"

# A socket that is bound has a name in the file system, even if no process listens.
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/world/renamed.c" -o renamed || exit 1
"$RADDLE" record -f -o renamed.trace -- ./renamed >renamed.out 2>&1 || complain "renamed: $(cat renamed.out)"
[ -s renamed.trace/world ] || complain "renamed: no world was recorded"
inline renamed.trace '' >renamed.order
timeout 300 "$RADDLE" replay renamed.order -- ./renamed >renamed.out 2>&1 </dev/null
grep -q 'after that the program ended with status 0' renamed.out || complain "renamed: $(cat renamed.out)"
verdict
