# Failures that only a few schedules show: each is found and repeats under its schedule.  In
# programs that are correct in all schedules no failure is found.
# sanitizers: yes, runs explore/ and trial/
. "$ROOT/test/lib.sh"
shown=(err)

build_once order cc -O1 -pthread "$ROOT/test/prog/explore/order.c" || exit 1

# explore NAME STATUS [SCHEDULES]: explores, and expects this status.  The findings are in
# NAME.json.
explore() {
	local got=0
	"$RADDLE" explore ${3:+-n $3} -o "out/$1" --json "$1.json" -- ./order "$1" >out.txt 2>err 3<&- </dev/null || got=$?
	[ $got = "$2" ] || complain "$1: status $got instead of $2"
	[ ! -s out.txt ] || complain "$1: something was written: $(cat out.txt)"
}
# found NAME KIND CONSEQUENCE: expects one finding, whose schedule reproduces it each time.
found() {
	explore "$1" 1
	jq -e --arg kind "$2" --arg what "$3" '.findings | length == 1 and (.[0] | .kind == $kind and .status == "confirmed" and .consequence == $what)' \
		"$1.json" >/dev/null || complain "$1: $(jq -c '[.findings[] | [.kind, .status, .consequence]]' "$1.json")"
	for i in 1 2 3; do
		"$RADDLE" replay "out/$1"/*.schedule -- ./order "$1" >out.txt 2>err </dev/null
		grep -q "$4" err || complain "$1: replay $i"
	done
}
found lost failure assertion 'ended by signal 6'
found early failure crash 'ended by signal 11'
found locks deadlock deadlock 'deadlock'
found asks deadlock deadlock 'deadlock'
jq -e '.findings[0].cycle | length == 2 and all(.kind == "channel" and .function == "ask")' asks.json >/dev/null ||
	complain "asks: $(jq -c '.findings[0].cycle' asks.json)"
found unjoined failure assertion 'ended by signal 6'
found stuck failure hang 'livelocked'
jq -e '[.findings[0].cycle[].function] | sort == ["wait_for_first", "wait_for_second"]' stuck.json >/dev/null ||
	complain "stuck: $(jq -c '.findings[0].cycle' stuck.json)"

# The schedule has as few decisions as are needed, and these are described in words.
jq -e '.findings[0].notes[0] | test("with [0-3] decisions? it happened again in 3 of 3 runs")' lost.json >/dev/null ||
	complain "not reduced: $(jq -c '.findings[0].notes' lost.json)"
"$RADDLE" explore -o out/text -- ./order lost >out.txt 2>err </dev/null
grep -q 'is preempted' err || complain "the decisions are not told"
"$RADDLE" dump out/text | grep -q 'is stopped .*; T_0_[01] continues' || complain "the decisions are not in the full report"
grep -q 'Raddle: 1 failure in' err || complain "the summary"

# In correct programs, nothing is found.  Some have loops that wait, time limits that expire, or a
# forked process.
for name in lost-fine early-fine locks-fine asks-fine waits around vain idle; do
	explore $name 0 "$([ -n "${RADDLE_LONG:-}" ] && echo 200 || echo 60)"
	jq -e '.findings == [] and .stats.schedules > 50 and .stats.unrepeated == 0' $name.json >/dev/null ||
		complain "$name: $(jq -c '[.findings, .stats]' $name.json)"
done

explore round 0 6
jq -e '.findings == [] and .stats.schedules >= 1' round.json >/dev/null || complain "round: $(jq -c '[.findings, .stats]' round.json)"

# Runs without an end are ended when they are far longer than those with an end, however much time
# there is.
explore endless 0 40
jq -e '.stats.schedules >= 10 and .stats.schedules < 40' endless.json >/dev/null || complain "endless: $(jq -c .stats endless.json)"
grep -q 'the program did not end within the limit of points' err || complain "endless: what runs say nothing"
jq -se '[.[] | select(.cut)] | length >= 1 and all(.extent >= .most and .ns < 5e9)' out/endless/log >/dev/null || complain "endless: $(grep -c '"cut":true' out/endless/log) runs were cut"

# Coverage shows the lock of get() and put() in both orders, in JSON, on a page, and in a line.
"$RADDLE" explore --all -n 60 -o out/covered --json covered.json --coverage covered.html -- ./order lost >out.txt 2>err </dev/null
jq -e '[.coverage[] | select(.kind == "locks" and ([.places[].function] | sort) == ["get", "put"] and (.first | min) > 0)] | length == 1' covered.json >/dev/null ||
	complain "what was covered: $(jq -c .coverage covered.json)"
jq -e '.stats.pairs == (.coverage | length) and .stats.pairs_both == ([.coverage[] | select((.first | min) > 0)] | length)' covered.json >/dev/null ||
	complain "the numbers of pairs: $(jq -c .stats covered.json)"
jq -e '[.coverage[] | select([.places[].function] | any(. == "main"))] == []' covered.json >/dev/null || complain "the beginning is covered"
grep -q 'In one order only' covered.html && grep -q 'order.c:' covered.html || complain "the page"
grep -q 'pairs of conflicting places' err || complain "the line on what was covered"

# The same seed gives the same schedules if runs are made one at a time.  Another seed gives others.
for seed in 5 5 6; do
	"$RADDLE" explore -q -j 1 --seed $seed -n 40 --json - -- ./order lost-fine 2>err </dev/null | jq -c '.stats' >>stats
done
[ "$(sed -n 1p stats)" = "$(sed -n 2p stats)" ] || complain "one seed, two explorations: $(cat stats)"
jq -e '.schedules == 40' <(sed -n 1p stats) >/dev/null || complain "the number of schedules: $(cat stats)"
for strategy in walk pct pos weighted round kinds; do
	"$RADDLE" explore -q -o out/$strategy --strategy $strategy -n 600 -- ./order early 2>err </dev/null
	[ $? = 1 ] || complain "$strategy finds nothing"
done

# Among many equal threads, the one thread that does something else gets its chance.
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/explore/crowd.c" -o crowd || exit 1
"$RADDLE" explore -q -j 1 -o out/crowd --strategy kinds -n 150 -- ./crowd 2>err </dev/null
[ $? = 1 ] || complain "nothing in a crowd: $(cat err)"
"$RADDLE" explore -q -j 1 -o out/crowd-fine --strategy kinds -n 40 -- ./crowd fine 2>err </dev/null || complain "a fine crowd: $(cat err)"

# An exploration that was killed is resumed.  An incomplete line at the end of the log is not a run.
"$RADDLE" explore -q -j 1 -n 90 -o out/whole --json whole.json -- ./order lost-fine 2>err </dev/null || complain "the whole"
"$RADDLE" explore -q -j 1 -n 40 -o out/part -- ./order lost-fine 2>err </dev/null || complain "a part"
printf '{"n":40,"tra' >>out/part/log
"$RADDLE" explore -q -j 1 -n 90 --resume out/part --json part.json 2>err </dev/null || complain "going on"
known='[.stats.schedules, .stats.pairs, [.coverage[].places]]'
[ "$(jq -c "$known" whole.json)" = "$(jq -c "$known" part.json)" ] ||
	complain "resumed: $(jq -c .stats whole.json part.json)"
[ "$(wc -l <out/part/log)" = 91 ] || complain "the log has $(wc -l <out/part/log) lines"
# The exploration is continued in shards, which are then merged.
for i in 0 1; do
	"$RADDLE" explore -q -n 130 --resume out/whole --shard $i/2 2>err </dev/null || complain "shard $i"
done
[ "$(tail -qn +2 out/whole/log out/whole/log.0 out/whole/log.1 | jq .n | sort -nu | wc -l)" = 130 ] || complain "the runs of shards: $(wc -l out/whole/log*)"
"$RADDLE" explore -q -n 130 --resume out/whole --json shards.json 2>err </dev/null || complain "the shards together"
jq -e '.stats.schedules == 130' shards.json >/dev/null || complain "of shards: $(jq -c .stats shards.json)"
sed -i 's/"program":"..../"program":"0000/' out/part/log
status=0
"$RADDLE" explore -q --resume out/part 2>err </dev/null || status=$?
[ $status = 2 ] && grep -q 'the program has changed' err || complain "another program: status $status"
"$RADDLE" explore -q --resume out/part -- ./order lost 2>err </dev/null && complain "--resume with a program"

# The kind of points: threads that only access memory have points only with --points accesses, and a
# resumed exploration keeps the kind.
most_choices() {
	jq -s 'map(.choices // 0) | max' "out/$1/log"
}
for points in operations accesses; do
	"$RADDLE" explore -q -j 1 -n 20 --all -o out/$points --points $points -- ./order lost 2>err </dev/null
done
[ "$(most_choices operations)" -lt "$(most_choices accesses)" ] ||
	complain "points: $(most_choices operations) choices at operations, $(most_choices accesses) at accesses"
"$RADDLE" explore -q -j 1 -n 40 --all --resume out/operations 2>err </dev/null
[ "$(most_choices operations)" -lt "$(most_choices accesses)" ] || complain "--resume forgets --points"

# A command judges a run by its output or its status.
judged() {
	local wanted=$1 got=0
	shift
	"$RADDLE" explore -o out/judged --json judged.json --fail-if "$@" >out.txt 2>err </dev/null || got=$?
	[ $got = "$wanted" ] || complain "--fail-if $*: status $got instead of $wanted"
}
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/explore/say.c" -o say || exit 1
judged 1 'grep -q "^b a$"' -n 60 -- ./say
jq -e '.findings | length == 1 and (.[0] | .kind == "failure" and .consequence == "fail-if")' judged.json >/dev/null || complain "judged: $(jq -c .findings judged.json)"
"$RADDLE" replay out/judged/*.schedule -- ./say >out.txt 2>err </dev/null
grep -q '^b a$' out.txt || complain "the schedule does not show it: $(cat out.txt)"
judged 0 'grep -q "^c$"' -n 60 -- ./say
judged 1 '[ "$RADDLE_STATUS" = 3 ] && grep -q late <&3' -- ./say status
judged 2 'exit 5' -n 60 -- ./say
grep -q 'the command of --fail-if ended with status 5' err || complain "what is wrong with the command"

# In a test suite, the case that failed is named.
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/explore/suite.c" -o suite -lcmocka || exit 1
"$RADDLE" explore -q -o out/suite --json suite.json -- ./suite >out.txt 2>err </dev/null
[ $? = 1 ] || complain "the suite does not fail"
jq -e '.findings | length == 1 and (.[0] | .consequence == "exit-status" and .cycle[0].function == "test_set" and
	.notes[0] == "the test case that failed is test_set")' suite.json >/dev/null || complain "suite: $(jq -c .findings suite.json)"

# Tests with the library Check run their cases in the process that is led, in a replay, too.
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/explore/forks.c" -o forks || exit 1
"$RADDLE" explore -q -o out/forks -- ./forks >out.txt 2>err </dev/null
[ $? = 1 ] || complain "the forked test does not fail: $(cat err)"
"$RADDLE" replay -n 5 out/forks/*.schedule -- ./forks >out.txt 2>err </dev/null
grep -q 'reproduced in 5 of 5 replays' err || complain "the forked test is not replayed: $(cat err)"

# The tests of a build directory are those that ctest lists.  Tests that are shell scripts cannot be
# explored.
mkdir -p build && cat >build/CTestTestfile.cmake <<END
add_test(lost/update "$PWD/order" "lost")
add_test(fine "$PWD/order" "lost-fine")
set_tests_properties(lost/update PROPERTIES ENVIRONMENT "A=b" WORKING_DIRECTORY "$PWD/build")
set_tests_properties(fine PROPERTIES ENVIRONMENT "A=b;C=d e" WORKING_DIRECTORY "$PWD/build")
add_test(script "/bin/sh" "-c" "exit 0")
END
# suite STATUS ARGUMENTS...: explores the tests, and expects this status.
suite() {
	local wanted=$1 got=0
	shift
	"$RADDLE" explore -n 30 -o out/ctest "$@" >out.txt 2>err </dev/null || got=$?
	[ $got = "$wanted" ] || complain "explore $*: status $got instead of $wanted"
}
if command -v ctest >/dev/null; then
	suite 1 --ctest build
	grep -q '^== lost/update fails' err && grep -q '1 of 3 tests fail .* 1 could not be explored' err || complain "the tests of ctest"
	grep -q "^== replay them in $PWD/build$" err && grep -q '^== replay them with the variable A=b$' err || complain "how a test is replayed: $(cat err)"
	jq -e '.findings[0].consequence == "assertion"' out/ctest/lost_update/findings.json >/dev/null || complain "the failure of a test"
	jq -e '.findings == [] and .stats.schedules == 30' out/ctest/fine/findings.json >/dev/null || complain "a test that is right"
	suite 0 -q --ctest build -R fine
	suite 2 -q --ctest build -R script
	suite 2 --ctest build -R nothing
	suite 2 --ctest absent
	suite 2 --ctest build -- ./order lost
fi

# Tests may contain annotations for Raddle.
"$RADDLE" cc -O1 -g -pthread -I "$ROOT/src/contract" "$ROOT/test/prog/explore/annotated.c" -o annotated || exit 1
# annotated NAME STATUS SCHEDULES FILTER: explores, and expects this status and result.
annotated() {
	local got=0
	"$RADDLE" explore -q -n "$3" -o "out/of-$1" --json annotated.json -- ./annotated "$1" >out.txt 2>err </dev/null || got=$?
	[ $got = "$2" ] || complain "annotated $1: status $got instead of $2"
	[ $got = 2 ] || jq -e "$4" annotated.json >/dev/null || complain "annotated $1: $(jq -c '[.stats, .findings]' annotated.json)"
}
annotated assert 1 60 '.findings[0].consequence == "assertion"'
annotated assume 0 60 '.stats.strayed > 5 and .stats.schedules > 5'
annotated later 0 60 '.stats.different_schedules > 5'
annotated choose 1 600 '.findings | length == 1 and .[0].consequence == "assertion"'
"$RADDLE" replay out/of-choose/*.schedule -- ./annotated choose >out.txt 2>err </dev/null
grep -q 'ended by signal 6' err || complain "a choice does not come again"
annotated never 2 12 ''
grep -q 'an assumption of the program did not hold' err || complain "why no run says anything"
cc -I "$ROOT/src/contract" -pthread -Wall -Wextra -Werror "$ROOT/test/prog/explore/annotated.c" -o plain && ./plain never ||
	complain "without Raddle"

# If all threads run on one kernel thread, the same seeds give the same schedules. trails OPTION
# ARGUMENTS...: prints a line for each schedule.  On a busy machine real time may influence a run,
# and so what later ones are drawn from; then all are run again.
trails() {
	local option=$1
	shift
	for _ in 1 2 3 4 5; do
		rm -rf out/threads
		"$RADDLE" explore -q -j 1 -n 18 --all $option -o out/threads -- "$@" >out.txt 2>err </dev/null
		jq -se 'any(.unsure)' out/threads/log >/dev/null || break
	done
	jq -r 'select(.n != null) | "\(.n) \(.trail) \(.choices) \(.status) \(.fault)"' out/threads/log | sort -n
}
# same_on_one ARGUMENTS...: expects the same schedules with and without --kernel-threads.
same_on_one() {
	trails --kernel-threads "$@" >kernel
	trails "" "$@" >one
	[ -s kernel ] && cmp -s kernel one || complain "$*: one kernel thread makes other schedules: $(diff kernel one)"
}
for mode in lost locks lost-fine; do
	same_on_one ./order $mode
done
"$RADDLE" c++ -O1 -g -pthread "$ROOT/test/prog/explore/ends.cpp" -o ends || exit 1
same_on_one ./ends

# A signal handler may interrupt any thread, and the runs still end.
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/explore/handler.c" -o handler || exit 1
"$RADDLE" explore -q -n 12 -o out/handler --json handler.json -- ./handler >out.txt 2>err </dev/null ||
	complain "handler: status $?"
jq -e '.findings == [] and .stats.schedules >= 6' handler.json >/dev/null || complain "handler: $(jq -c .stats handler.json)"

# What the kernel keeps for each thread is right; otherwise the program gets kernel threads.
"$RADDLE" cc -O1 -g -pthread "$ROOT/test/prog/explore/signals.c" -o signals || exit 1
for mode in raised mask own ids kill; do
	same_on_one ./signals $mode
	"$RADDLE" explore -v -n 40 -o out/signals -- ./signals $mode >out.txt 2>err </dev/null || complain "signals $mode: status $?"
	grep -q 'kernel thread' err && complain "signals $mode: $(grep 'kernel thread' err)"
done
# falls_back MODE REASON: expects that the threads get kernel threads for this reason.
falls_back() {
	"$RADDLE" explore -v -n 20 -o out/signals -- ./signals "$1" >out.txt 2>err </dev/null || complain "signals $1: status $?"
	grep -q "on a kernel thread of its own: $2" err || complain "signals $1: no reason"
}
falls_back vfork 'it calls vfork()'
falls_back raw 'it behaves differently without'

# status WANTED ARGUMENTS...: expects this exit status.
status() {
	local wanted=$1 got=0
	shift
	"$RADDLE" explore -q "$@" >/dev/null 2>err </dev/null || got=$?
	[ $got = "$wanted" ] || complain "explore $*: status $got instead of $wanted"
}
status 2
status 2 -- ./absent
status 2 --strategy luck -- ./order lost
status 2 --points all -- ./order lost
status 2 -- /bin/true
verdict
