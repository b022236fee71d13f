#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each kind of event is the same in both modes, with the names that the site table gives it.
# Without elimination of redundant events the set of bytes is the same.
. "$ROOT/test/prog/instr-lib.bash"

# explain SITES: prints events with the function, kind, size, flags, what and type of their sites.
explain() {
	awk -F'\t' 'NR == FNR { if ($1 == "S") s[$2] = $9 " " $3 " " $4 " " $5 " " $10 " (" $11 ")"; next }
		{ split($0, a, " "); print a[1], a[3], "|", s[a[2]] }' "$1" -
}

bitcode "$ROOT/test/prog/instr-events.c" || fail "no bitcode"
for mode in quick fast; do
	instrument $mode instr-events || fail "$mode: not instrumented"
	program $mode instr-events || fail "$mode: not linked"
	./instr-events.$mode 3>events </dev/null || fail "$mode: exit status $?"
	explain instr-events.$mode.sites <events >explained
	diff "$ROOT/test/prog/instr-events.expected" explained || fail "$mode: events differ"
done

# The call stack: main() calls escaping(), which calls keep().
site() { awk -F'\t' -v f="$1" -v w="$2" '$1 == "S" && $3 == "c" && $9 == f && $10 == w { print $2 }' instr-events.quick.sites; }
write=$(awk -F'\t' '$1 == "S" && $3 == "w" && $10 == "*p" { print $2 }' instr-events.quick.sites)
grep -qx "w $write 4 $(site main escaping) $(site escaping keep)" events || fail "wrong call stack"

# Without elimination, the bytes touched in each segment are the same, except that a read after a
# write of the same bytes may be missing.
without_reads_behind_writes() {
	awk 'NR == FNR { if ($2 == "w") written[$1 " " $3] = 1; next } !($2 == "r" && ($1 " " $3) in written)' "$1" "$1"
}
bitcode "$ROOT/test/prog/instr-torture.c" || fail "no bitcode"
for name in instr-events instr-torture; do
	for mode in quick fast; do
		for option in --jobs=1 --keep-redundant; do
			instrument $mode $name $option || fail "$name: $mode $option: not instrumented"
			program $mode $name -latomic || fail "$name: $mode $option: not linked"
			STUB_SET=1 ./$name.$mode 3>bytes </dev/null >/dev/null
			wc -l <bytes >count$option
			sort -u bytes >bytes$option
			without_reads_behind_writes bytes$option >set$option
			[ -s set$option ] || fail "$name: $mode $option: no bytes"
		done
		diff set--jobs=1 set--keep-redundant || fail "$name: $mode: elimination changes the set of bytes"
		[ "$(cat count--jobs=1)" -lt "$(cat count--keep-redundant)" ] || fail "$name: $mode: nothing was eliminated"
	done
done
