#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program computes the same with and without instrumentation, in both modes, and the same input
# gives the same object byte for byte.
# sanitizers: yes, runs instr/ on code of every kind
. "$ROOT/test/prog/instr-lib.bash"

try() {
	local source=$1 name status mode
	name=$(basename "${source%.*}")
	shift
	bitcode "$source" || fail "$name: no bitcode"
	$CLANG -O2 -w "$source" -o "$name.native" -lm "$@" || fail "$name: clang"
	"./$name.native" >"$name.expected"
	status=$?
	for mode in quick fast; do
		instrument $mode "$name" || fail "$name: $mode: not instrumented"
		program $mode "$name" "$@" || fail "$name: $mode: not linked"
		"./$name.$mode" >"$name.$mode.output"
		[ $? -eq $status ] || fail "$name: $mode: exit status is not $status"
		cmp "$name.expected" "$name.$mode.output" || fail "$name: $mode: output differs"
		cp "$name.$mode.o" first.o
		cp "$name.$mode.sites" first.sites
		instrument $mode "$name" || fail "$name: $mode: the second time"
		cmp first.o "$name.$mode.o" && cmp first.sites "$name.$mode.sites" || fail "$name: $mode: not reproducible"
	done
}

try "$ROOT/test/prog/instr-torture.c" -latomic
try "$ROOT/test/prog/instr-torture-cxx.cc" -lstdc++
