#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A loop that waits for a plain variable ends when the variable changes, even in optimised code, and
# a check finds the race.  The long form also classifies it, in eighty runs that spin.
. "$ROOT/test/lib.sh"
shown=(err)

"$RADDLE" cc -O2 -g -pthread -o spin "$ROOT/test/prog/spin.c" || exit 1
for mode in --quick --fast; do
	timeout 100 "$RADDLE" record -f $mode -o trace -- ./spin 2>err || complain "$mode: status $?"
done
# shellcheck disable=SC2046
"$RADDLE" check --time 0 $([ -n "${RADDLE_LONG:-}" ] || echo --no-classify) -o out -- ./spin >out.txt 2>err </dev/null
[ $? = 1 ] || complain "status $? of the check"
jq -e '[.findings[] | select(.kind == "race" and .status == "confirmed")] | length >= 1' out/findings.json >/dev/null ||
	complain "no race: $(jq -c '[.findings[] | [.kind, .status]]' out/findings.json)"
verdict
