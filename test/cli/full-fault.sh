# Faults: each action changes the named value in the named thread, once or as often as requested,
# and in the same way in every run.  A call can be prevented.
. "$ROOT/test/lib.sh"
build_once quicksort cc -O1 -pthread "$ROOT/test/prog/epa/quicksort.c" -lm || exit 1
sites=$("$RADDLE" flavour --flavour full --fast --sites ./quicksort) || exit 1
{ zstd -dcq "$sites" 2>/dev/null || cat "$sites"; } >sites.txt
slot=$(awk -F'\t' '$1 == "U" { print $2; exit }' sites.txt)

shown=(err.txt)

# site KIND FUNCTION [WHAT]: prints the number of the first such site.
site() {
	awk -F'\t' -v kind="$1" -v f="$2" -v what="${3-}" -v slot="$slot" \
		'$1 == "S" && $3 == kind && $9 == f && (what == "" || $10 == what) { print slot * 65536 + $2; exit }' sites.txt
}

# run FAULT: records a run with the fault.
run() {
	rm -rf trace
	("$RADDLE" record -v --flavour full --fast --fault "$1" -o trace -- ./quicksort >out.txt 2>err.txt) 2>/dev/null
	status=$?
	"$RADDLE" dump --check trace >/dev/null 2>check.txt || fail "$1: not sound: $(cat check.txt)"
}

load=$(site r swap)
run "T_0_0:$load:3:flip:0x100"
grep -q 'fault 0 changed 1 values' err.txt || fail "flip: it did not happen"
before=$(sed -n 's/.*first from 0x\([0-9a-f]*\) to.*/\1/p' err.txt)
after=$(sed -n 's/.* to 0x\([0-9a-f]*\)$/\1/p' err.txt)
[ $((0x$before ^ 0x$after)) = 256 ] || fail "flip: $before became $after"
"$RADDLE" dump -t T_0_0 -k fault trace | grep -q "fault 0: $before became $after" || fail "flip: not in the trace"
[ "$("$RADDLE" dump -k fault trace | wc -l)" = 1 ] || fail "flip: in other threads too"
"$RADDLE" dump -t T_0_0 trace | grep -q "load $((0x$after)) .*(\*a)" || fail "flip: the load does not show it"

# Whatever the schedule is, the fault changes the same value.
for round in 1 2 3 4 5 6 7 8; do
	run "T_0_0:$load:3:flip:0x100"
	grep -q "from 0x$before to 0x$after" err.txt || fail "round $round met another value"
done

run "T_0:$load:1:clear:0xff:0:0"
grep -q 'from 0x[0-9a-f]* to 0x[0-9a-f]*00$' err.txt || fail "clear"
count=$(sed -n 's/.*changed \([0-9]*\) values.*/\1/p' err.txt)
[ "$count" -gt 10 ] || fail "clear: only $count times"
run "T_0:$load:1:raise:0xf"
grep -q 'to 0x[0-9a-f]*f$' err.txt || fail "raise"
run "T_0:$load:2:set:77"
grep -q 'to 0x4d$' err.txt || fail "set"
run "T_0:$load:1:set:5,T_0:$load:1:add:-1,T_0_0:$load:1:set:9"
[ "$(grep -c 'changed 1 values' err.txt)" = 3 ] || fail "three faults"

size=$(site ia main malloc)
run "T_0:$size:1:scale:1:2"
grep -q 'from 0x4b0 to 0x258' err.txt || fail "the size of malloc"
result=$(site v main malloc)
run "T_0:$result:1:flip:0x400000000000"
[ $status = 139 ] || fail "an invalid pointer does not crash: $status"

create=$(site k sort pthread_create)
run "T_0:$create:1:call:11"
[ $status = 134 ] || fail "a thread that cannot be made: $status"
"$RADDLE" dump -t T_0 trace | grep -q 'result-pthread_create 11' || fail "the result of a call that was prevented"

run "T_0_9:$load:1:set:5"
grep -q 'fault 0 did not happen' err.txt || fail "a fault of no thread"
[ "$(cat out.txt)" = "$(./quicksort)" ] || fail "a fault that did not happen changed the output"
"$RADDLE" record --flavour full --fault "T_0:x" -o trace2 -- ./quicksort >out.txt 2>err.txt && fail "nonsense is taken"
grep -q 'a fault is \[PROCESS/\]THREAD:SITE' err.txt || fail "no word about what a fault is"
exit 0
