#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The place of a crash is the line in the program, not that of its last access or of a system
# header.
. "$ROOT/test/lib.sh"
shown=(err)
source=$ROOT/test/prog/sketch/place.cc

# place FUNCTION: the program crashes in this function, at the line marked with "fails".
place() {
	local line got=0
	line=$(awk -v f="static int $1()" '$0 == f { on = 1 } on && /fails/ { print NR; exit }' "$source")
	"$RADDLE" sketch --runs 1 --time 0 --json="$1.json" -- ./place "$1" >out.txt 2>err </dev/null || got=$?
	[ $got = 1 ] || complain "$1: status $got instead of 1"
	jq -e --argjson line "$line" '.sketches[0] | .kind == "crash" and .failure.line == $line and
		.failure.thread == "T1" and (.failure.file | endswith("place.cc"))' "$1.json" >/dev/null ||
		complain "$1: not line $line: $(jq -c '[.sketches[] | [.signature, .failure]]' "$1.json")"
}

"$RADDLE" c++ -O1 -g -pthread "$source" -o place || exit 1
for function in library header own sent; do
	place $function
done
verdict
