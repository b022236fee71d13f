# A full trace records exactly what was executed, however the run ended: crashes within a piece,
# handlers that interrupt it or never return, jumps out of handlers, SIGKILL, fork.
. "$ROOT/test/lib.sh"
"$RADDLE" cc -g -O1 -pthread -o ends "$ROOT/test/prog/full-ends.c" || exit 1

shown=(dump.txt)

# run STATUS PART: records this part of the program, and expects this status.
run() {
	rm -rf trace
	("$RADDLE" record --flavour full --fast -o trace -- ./ends "$2" >out.txt 2>err.txt) 2>/dev/null
	[ $? = "$1" ] || fail "$2: status is not $1: $(cat err.txt)"
	"$RADDLE" dump --check trace >check.txt 2>&1 || fail "$2: not sound: $(cat check.txt)"
	"$RADDLE" dump -t T_0 trace >dump.txt || fail "$2: cannot be read"
}

# last N: prints the n-th last record of the dump, without thread and place.
last() {
	tail -n "$1" dump.txt | head -n 1 | sed 's/^T_0 *//; s/  .*//'
}

run 139 load
[ "$(last 1)" = "load ? 8 (*c) [unfinished]" ] || fail "load: the end is $(last 1)"
case $(last 2) in "store 1 "*"(*b)") ;; *) fail "load: the store before it is $(last 2)" ;; esac

run 139 store
[ "$(last 1)" = "store ? 8 (*b) [unfinished]" ] || fail "store: the end is $(last 1)"
case $(last 2) in "load 0 "*"(*a)") ;; *) fail "store: the load before it is $(last 2)" ;; esac

# A program that writes past the end of its memory crashes as without Raddle, and does not overwrite
# variables of the runtime.
(./ends overrun) 2>/dev/null
[ $? = 139 ] || fail "overrun: no crash without Raddle either"
run 139 overrun
case $(last 1) in *"(*at) [unfinished]"*) ;; *) fail "overrun: the end is $(last 1)" ;; esac

run 4 handler
[ "$(cat out.txt)" = handler ] || fail "handler: it did not speak"
grep -A1 'unfinished' dump.txt | grep -q 'call-say 11' || fail "handler: not behind what it interrupted"
grep -q 'range-read.* 8 #' dump.txt || fail "handler: what it wrote is missing"

run 0 landings
[ "$(cat out.txt)" = "3 landings, 0" ] || fail "landings: $(cat out.txt)"
[ "$(grep -c unfinished dump.txt)" = 3 ] || fail "landings: not three unfinished records"
"$RADDLE" dump -t T_0 -s -k call trace >stack.txt
grep -A9 'call-printf-u' stack.txt | grep -q 'deeper' && fail "landings: scopes that were left are still there"

run 0 storm
[ "$(cat out.txt)" = "100 100 0" ] || fail "storm: $(cat out.txt)"
entries=$(grep -c 'call-count 10' dump.txt)
[ "$entries" = 100 ] || fail "storm: $entries entries of the handler"
grep -q unfinished dump.txt && fail "storm: a piece was torn"

run 137 kill
grep -q 'call-raise-u 9' dump.txt || fail "kill: the end is missing"

run 0 fork
"$RADDLE" dump -t T_0 trace/fork-0 >dump.txt || fail "fork: no trace of the child"
grep -q 'call-touch' dump.txt || fail "fork: the child did nothing"
"$RADDLE" dump --check trace/fork-0 >/dev/null || fail "fork: the child's trace is not sound"
exit 0
