#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# raddle reversible: the situations in which the authors' tool was right or wrong, and more.  Each
# is recorded and checked.  If the answer is no, the other order is replayed.  If the solver fails
# or has no time, the answer is "unknown".
# sanitizers: yes, runs reversible/
. "$ROOT/test/lib.sh"

"$RADDLE" cc -g -O0 "$ROOT/test/prog/epa/reversible.c" -o prog -pthread || exit 1

check() { # SITUATION, STATUS: leaves out and the schedule
	local status=0
	rm -rf trace out schedule
	"$RADDLE" record --flavour full -o trace -- ./prog "$1" >/dev/null 2>&1
	"$RADDLE" reversible -o schedule trace >out 2>messages || status=$?
	[ "$status" -eq "$2" ] || complain "$1: status $status, expected $2: $(cat out messages)"
}

# In these situations, the order of dependent events is the same in every schedule.
for situation in read-read neighbours unmap heap-reuse stack-reuse silent fork-order handle-own mutex-apart handover rwlock-readers \
	barrier semaphore condition once-before alone channel file-handed; do
	check "$situation" 0
	grep -q '^yes: every' out || complain "$situation: $(cat out)"
	[ ! -e schedule ] || complain "$situation: a yes has a schedule"
	"$RADDLE" reversible -q --certificate certificate trace || complain "$situation: no certificate"
	"$RADDLE" reversible --check-certificate certificate trace >out || complain "$situation: $(cat out certificate)"
done

# A certificate is refused if a step is missing or wrong, or if it is of another trace.
check condition 0
"$RADDLE" reversible -q --certificate certificate trace
"$RADDLE" reversible --certificate - trace >printed || complain "a certificate on standard output"
cmp certificate printed && [ ! -e ./- ] || complain "a certificate on standard output: $(cat printed)"
steps=$(jq '.steps | length' certificate)
[ "$steps" -eq 5 ] || complain "condition: $(cat certificate)"
refuse() { # FILTER, MESSAGE
	jq "$1" certificate >false
	"$RADDLE" reversible --check-certificate false trace >out 2>&1
	[ $? -eq "${3:-1}" ] || complain "a certificate after $1: $(cat out)"
	grep -q "$2" out || complain "a certificate after $1: $(cat out)"
}
for step in 0 1 2; do
	refuse "del(.steps[$step])" 'does not hold'
done
refuse '.steps[0][4] = 4' 'step 1 does not follow'
refuse '.steps[0][1] = 99' 'not in the trace'
refuse '.records += 1' 'another trace'
refuse '.proved = [[1, 1, 0, 2]]' 'does not hold'
refuse '.steps[0][2] = "magic"' 'steps are invalid' 2
refuse '.threads = 1' 'threads are invalid' 2
echo '{' >false
"$RADDLE" reversible --check-certificate false trace >out 2>&1
[ $? -eq 2 ] || complain "half a certificate: $(cat out)"

# In these situations, the order can change.  The object is named, and a replay shows the other
# order.
reversed() { # SITUATION, OBJECT, WORDS
	local status=0
	check "$1" 1
	grep -q "^1. $2" out || complain "$1: not $2 but $(cat out)"
	grep -q "$3" out || complain "$1: nothing about '$3': $(cat out)"
	[ -e schedule ] || { complain "$1: there is no schedule"; return; }
	"$RADDLE" replay schedule -- ./prog "$1" >/dev/null 2>replayed || status=$?
	[ "$status" -eq 1 ] || complain "$1: replay ended with $status: $(cat schedule replayed)"
}
reversed write-write value 'data race'
"$RADDLE" reversible -o - trace >printed
cmp schedule printed && [ ! -e ./- ] || complain "a schedule on standard output: $(cat printed)"
reversed write-read value 'data race'
reversed library text 'data race'
reversed library-sort text 'data race'
reversed overlap 'mixed.*+2' 'data race'
reversed atomic-add counter 'two atomic operations: if both only add'
reversed atomic-load counter 'two atomic operations: what one of them reads'
reversed mutex value 'the changes commute'
reversed trylock mutex 'the result of one'
reversed rwlock value 'a lock keeps them apart, but not in order (rwlock)'
reversed spin value '(spin)'
reversed semaphore-two value 'data race'
reversed condition-open '\(value\|cond\)' 'order'
# If only the number of waiting rounds depends on the order, the report says so and names the place.
wait=$(grep -n 'pthread_cond_wait' "$ROOT/test/prog/epa/reversible.c" | cut -d: -f1)
notified=$(grep -n 'pthread_cond_signal' "$ROOT/test/prog/epa/reversible.c" | cut -d: -f1)
place=$(sed -n 's/^  the \(wait\|notification.*\): .*reversible.c:\([0-9]*\):.*/\2/p' out | head -n1)
printf '%s\n' "$wait" "$notified" | grep -qx "${place:-none}" || complain "condition-open: no place of a wait: $(cat out)"
grep -q 'that end in a wait' out || [ "$(grep -c '^1. cond' out)" -eq 1 ] || complain "condition-open: why no: $(cat out)"
reversed once once 'the result of one'
reversed hidden 'the state of rand()' 'hidden state of a library'

# The handle of another thread can be read too early. pthread_create() cannot be stopped where it
# writes the handle.
check handle-next 1
grep -q '^1. handles' out || complain "handle-next: $(cat out)"

# The read before the post is ordered before the release; the read after it is not.  A schedule of
# operations alone cannot lead to the other order.
check free 1
grep -q '^1. heap T_0 (reversible.c:[0-9]*)#0+8$' out || complain "free: $(cat out)"
grep -q 'released and used' out || complain "free: $(cat out)"

# If main got the lock first, as it nearly always does, only the solver finds the other order.
for i in $(seq 30); do
	check solver 1
	grep -q 'found by the solver' out && break
done
grep -q 'found by the solver' out || complain "solver: it was never needed"
"$RADDLE" replay schedule -- ./prog solver >/dev/null 2>replayed
[ $? -eq 1 ] || complain "solver: not replayed: $(cat replayed)"
status=0
"$RADDLE" reversible --no-solver trace >out || status=$?
[ "$status" -eq 3 ] || complain "a solver without time: status $status"
grep -q '^unknown: .*no time' out || complain "a solver without time: $(cat out)"
status=0
mkdir -p nolib && : >nolib/libz3.so.4
LD_LIBRARY_PATH=$PWD/nolib "$RADDLE" reversible trace >out || status=$?
[ "$status" -eq 3 ] || complain "a broken solver: status $status"
"$RADDLE" reversible --json trace | jq -e '.verdict == "no" and .reversals[0].found_by == "solver" and
	.reversals[0].object == "value" and (.reversals[0].events | length) == 2 and .stats.open_pairs > 0' >/dev/null ||
	complain "the JSON of a no"

# Input from outside is listed, and makes the answer no with --strict.
check outside 0
for what in 'clock_gettime at' 'time at' 'getpid at' '/dev/urandom at' 'fresh.*read before it is written' 'printf at .*addresses'; do
	grep -q "$what" out || complain "outside: no $what: $(cat out)"
done
"$RADDLE" reversible -q --strict trace && complain "outside: --strict has no effect"
"$RADDLE" reversible --json trace | jq -e '.verdict == "yes" and (.sources | length) == 6' >/dev/null || complain "the JSON of sources"
check output 0
grep -q 'puts at .*several threads use a file in no fixed order' out || complain "output: $(cat out)"
# The call that came second in the recorded run is named, whichever thread made it.
check file 0
grep -q '\(fopen at .* in read_file\|\bopen at .* in write_file\): several threads use a file in no fixed order' out || complain "file: $(cat out)"
for what in 'descriptors open' 'channel-some read'; do
	check "${what% *}" 0
	grep -q "${what#* } at .*\(a file in no fixed order\|does not control\)" out || complain "$what: $(cat out)"
done
check output-joined 0
grep -q 'order$' out || complain "output-joined: $(cat out)"
check barrier-serial 0
grep -q 'pthread_barrier_wait at .*chooses' out || complain "barrier-serial: $(cat out)"

# Locks inside libraries do not count as the program's.
build_once words c++ -std=c++17 -O1 -pthread "$ROOT/test/prog/epa/words.cc" || exit 1
"$RADDLE" record --flavour full -o t-words -- ./words >/dev/null 2>&1
"$RADDLE" reversible t-words >out || complain "words: $(cat out)"
build_once mixed cc -O1 -pthread "$ROOT/test/prog/epa/mixed.c" -lm || exit 1
"$RADDLE" record --flavour full -o t-mixed -- ./mixed >/dev/null 2>&1
"$RADDLE" reversible t-mixed >out || complain "mixed: $(cat out)"

# The trace of a killed program is a prefix, for which there is an answer.
check killed 0
grep -q "ended by signal 9" out || complain "killed: $(cat out)"

# What the check does not cover is listed.
check addresses 0
[ "$(grep -c 'malloc at .* an address is used in a calculation (1 time' out)" = 1 ] || complain "addresses: $(cat out)"
check key 0
[ "$(grep -c 'an address is used in a calculation' out)" = 1 ] && grep -q 'key_of at .* an address' out || complain "key: $(cat out)"
check byte-hash 0
grep -q 'an address is used in a calculation (8 times' out || complain "byte-hash: $(cat out)"
check signals 0
[ "$(grep -c 'a signal arrives at any time' out)" = 1 ] && grep -q 'pthread_kill at .* in send_signal' out || complain "signals: $(cat out)"
check channel-two 1
grep -q 'a pipe, socket or eventfd' out || complain "channel-two: $(cat out)"
check huge 3
grep -q '^unknown: an access of more than 64 MB' out || complain "huge: $(cat out)"

# Programs like those of the paper, and the objects that their threads share.
for program in quicksort kmeans; do
	build_once "$program" cc -O1 -pthread "$ROOT/test/prog/epa/$program.c" -lm || exit 1
	"$RADDLE" record --flavour full -o "t-$program" -- "./$program" >/dev/null
	"$RADDLE" reversible --json --objects "t-$program" >json || complain "$program: not reversible: $(cat json)"
	jq -e '.stats.conflicts == .stats.ordered_by_clocks and .stats.edges.join > 1 and
		([.shared[].conflicts] | add) == .stats.conflicts and (.shared | length) > 0' json >/dev/null ||
		complain "$program: $(jq .stats json)"
done

# Other input is refused.
mkdir -p nothing
"$RADDLE" reversible nothing >out 2>&1
[ $? -eq 2 ] || complain "an empty directory: $(cat out)"
"$RADDLE" record -o plain -- ./prog alone
"$RADDLE" reversible plain >out 2>&1
[ $? -eq 2 ] || complain "a trace of the record flavour: $(cat out)"
verdict
