#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Why programs fail.  For each program the first predictor is the true cause.  If that order is
# forced the program fails, and if it is prevented the program passes.  The steps end at the
# failure.  A correct program has no sketch.
# sanitizers: yes, runs sketch/
. "$ROOT/test/lib.sh"
shown=(err)
prog=$ROOT/test/prog/sketch

# sketch NAME STATUS OPTIONS...: makes a sketch, and expects this status.  The result is in
# NAME.json.
sketch() {
	local name=$1 status=$2 got=0
	shift 2
	[ -x "$name" ] || "$RADDLE" cc -O1 -g -pthread "$prog/$name.c" -o "$name" || exit 1
	"$RADDLE" sketch --time 0 -o "out/$name" --json="$name.json" "$@" -- "./$name" >"$name.txt" 2>err </dev/null || got=$?
	[ $got = "$status" ] || complain "$name: status $got instead of $status"
}
# holds NAME EXPRESSION: the jq expression is true for the first sketch.
holds() {
	jq -e ".sketches[0] | $2" "$1.json" >/dev/null ||
		complain "$1: not $2: $(jq -c '.sketches[0] | [.signature, [.predictors[] | [.type, .pattern, [.places[].line], .f]]]' "$1.json")"
}

sketch early 1 --tries 5 --html early.html --sarif early.sarif
holds early '.kind == "crash" and .failure.line == 15 and .failure.thread == "T1"'
holds early '.predictors[0] | .type == "order" and .pattern == "RW" and [.places[].line] == [15, 24] and .confirmed'
holds early '.predictors[0] | .forced == {runs: 5, failed: 5} and .prevented == {runs: 5, failed: 0} and .f == 1'
holds early '.predictors[0].counts | .passing_with == 0 and .failing_without == 0'
holds early '[.predictors[] | select(.type == "value")][0] | .places[0].line == 15 and .value == "0"'
holds early '.steps[-1] | .line == 15 and (.marks | index("failure"))'
grep -q '^!.*15 printf' early.txt || complain "the failure is not marked"
[ "$(awk 'length > 100' early.txt | wc -l)" = 0 ] || complain "lines are longer than 100 columns"
grep -q '<article>' early.html && ! grep -Eq 'https?://|src=' early.html || complain "the page"
jq -e '.version == "2.1.0" and (.runs[0].results[0].codeFlows[0].threadFlows | length >= 1)' early.sarif >/dev/null || complain "SARIF"
sed -n 's/^ next *raddle //p' early.txt >next
[ "$(cat next)" = "replay out/early/1.schedule -- ./early" ] || complain "what comes next: $(cat next)"
"$RADDLE" $(cat next) >out.txt 2>err </dev/null
grep -q 'ended by signal 11' err || complain "the schedule does not show the failure"

# A failure of a program without threads depends on the input, not on the schedule.
sketch curl 1
holds curl '.predictors[0] | .type == "value" and .value == "0" and .places[0].line == 29'
holds curl '[.steps[].line] == [22, 40, 29] and .steps[-1].values[0].writer == 1'

# The user's command judges the output.
sketch logfile 1 --fail-if 'grep -q "no entry"' --tries 5
holds logfile '.kind == "output" and .predictors[0].type == "order" and .predictors[0].confirmed'
sketch logfile 0 --runs 3

# Each error has a message.
got=0
>empty
"$RADDLE" sketch --report empty -- ./early >out.txt 2>err </dev/null || got=$?
[ $got = 2 ] && grep -q 'no place of a failure' err || complain "an empty report: status $got"
got=0
"$RADDLE" sketch -- ./nothing >out.txt 2>err </dev/null || got=$?
[ $got = 2 ] && [ -s err ] || complain "no program: status $got"
verdict
