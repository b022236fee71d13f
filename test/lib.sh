# SPDX-License-Identifier: Apache-2.0
#
# Functions that all test scripts use.  A new script begins with `. "$ROOT/test/lib.sh"`.
# tool/run-tests sets $ROOT, $BUILD and $RADDLE.
set -u

failures=0
shown=() # files whose last lines are printed with each complaint

# complain TEXT...: reports what is wrong; the test continues, to find more.
complain() {
	local file
	echo "FAILED: $*"
	for file in ${shown[@]+"${shown[@]}"}; do
		[ ! -s "$file" ] || { echo "--- $file:"; tail -n 40 "$file"; }
	done
	failures=$((failures + 1))
}

# fail TEXT...: reports what is wrong and ends the test.
fail() {
	complain "$@"
	exit 1
}

# verdict: ends the test, which fails if `complain` was called.  It is the last line of a script.
verdict() {
	exit $((failures > 0))
}

# finally COMMAND: runs the command when the test ends, however it ends.
finally() {
	at_end=$1
}
at_end=:
# A complaint makes the test fail even if `verdict` was forgotten.
trap 'status=$?; eval "$at_end"; [ $failures = 0 ] || exit 1; exit $status' EXIT

# build_once OUT cc|c++ ARGUMENT...: OUT is what the compiler makes of the arguments, with debug
# information.  The tests of one run share it, and so its flavours, which Raddle finds by content.
# The sources are from the tree, since all directories of tests differ.
build_once() {
	local out=$1 shared
	shift
	shared=${SHARED:-$PWD/shared}/$(printf '%s\n' "$@" | md5sum | cut -c 1-32)
	mkdir -p "$shared"
	(
		cd "$shared" && flock 9 && { [ -e made ] || { "$RADDLE" "$1" -g "${@:2}" -o making && mv making made; }; }
	) 9>"$shared/lock" && cp "$shared/made" "$out"
}

# has_classes SOURCE: the races of the program have the classes that its lines `// expect: OBJECT CLASS
# CONSEQUENCE` state.  A recorded run may fail before its threads have made the accesses of all
# races, so there are up to four checks.  The last one leaves its files in `found`.
has_classes() {
	local source=$1 name object class consequence run compiler=cc
	name=$(basename "${source%.*}")
	[ "${source##*.}" = c ] || compiler=c++
	"$RADDLE" $compiler -O1 -g -pthread "$source" -o "$name" || fail "$name does not compile"
	sed -n 's,^// expect: ,,p' "$source" >labels
	[ -s labels ] || fail "$name has no labels"
	for run in 1 2 3 4; do
		rm -rf found
		"$RADDLE" check -q -o found -- "./$name" >/dev/null 2>err </dev/null
		jq -r '.findings[] | select(.kind == "race" and (.status == "confirmed" or .class)) |
			(.object | sub("\\[.*"; "") | sub("^struct "; "")) + " " + (.class // "-")' found/findings.json | sort -u >got
		cut -d ' ' -f 1 labels | sort -u >wanted
		cut -d ' ' -f 1 got | sed 's/\..*//' | sort -u | comm -23 wanted - >missing
		[ -s missing ] || break
	done
	while read -r object class consequence; do
		grep -qE "^$object(\.[a-z]*)? $class\$" got || complain "$name: $object is not $class ($consequence): $(cat got)"
	done <labels
}

# wait_for SECONDS COMMAND...: repeats the command until it succeeds; fails if that takes longer.
# The limit only ends a test that hangs, so choose it long enough for a slow and busy machine.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

# has_used PID TICKS: whether the process exists and has used so much CPU time, in clock ticks.
has_used() {
	local stat
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return
	read -ra stat <<<"${stat##*) }"
	[ $((stat[11] + stat[12])) -ge "$2" ]
}
