# SPDX-License-Identifier: Apache-2.0
#
# What test scripts have in common; `. "$ROOT/test/lib.sh"` is the first thing a
# new script does.  tool/run-tests sets $ROOT, $BUILD and $RADDLE.
set -u

failures=0
shown=() # files that say more about a failure: their ends are shown with it

# complain TEXT...: says what is wrong; the test goes on, in order to find more.
complain() {
	local file
	echo "FAILED: $*"
	for file in ${shown[@]+"${shown[@]}"}; do
		[ ! -s "$file" ] || { echo "--- $file:"; tail -n 40 "$file"; }
	done
	failures=$((failures + 1))
}

# fail TEXT...: says what is wrong and ends the test.
fail() {
	complain "$@"
	exit 1
}

# verdict: the last line of a script that complains; its last command decides otherwise.
verdict() {
	exit $((failures > 0))
}

# finally COMMAND: is run when the test ends, however it does.
finally() {
	at_end=$1
}
at_end=:
# Where `verdict` was forgotten, a complaint still counts.
trap 'status=$?; eval "$at_end"; [ $failures = 0 ] || exit 1; exit $status' EXIT

# wait_for SECONDS COMMAND...: until it succeeds; fails where that takes longer.  The
# limit is there to end what hangs, also on a slow and busy machine.
wait_for() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}

# has_used PID TICKS: the process is there and has used that much CPU time, in clock ticks.
has_used() {
	local stat
	stat=$(cat "/proc/$1/stat" 2>/dev/null) || return
	read -ra stat <<<"${stat##*) }"
	[ $((stat[11] + stat[12])) -ge "$2" ]
}
