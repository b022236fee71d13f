#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An access is recorded once in each segment, and a thread that is alone has only one segment
# (doc/format/trace.md).  Updates of counters and relaxed loads do not end a segment.

"$RADDLE" cc -O2 -g -pthread -o segments "$ROOT/test/prog/segments.c" || exit 1
for mode in --quick --fast; do
	"$RADDLE" record -f $mode -o trace -- ./segments || exit 1
	for expected in "alone 1" "together 3" "after 1" "counted 1" "field 1" "released 3" "looked 3" "fenced 3" \
		"loaded 1" "acquired 3"; do
		read -r name count <<<"$expected"
		found=$("$RADDLE" dump --kind read trace | grep -c " $name ")
		[ "$found" = "$count" ] && continue
		echo "$mode: $name was recorded $found times, not $count"
		exit 1
	done
done
