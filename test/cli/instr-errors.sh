#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A unit that cannot be built is reported by name and does not affect the others.
. "$ROOT/test/prog/instr-lib.bash"

printf 'int x;\nint good(void) { return x++; }\n' >good.c
bitcode good.c || fail "no bitcode"
size=$(stat -c %s good.bc)
head -c $((size / 2)) good.bc >cut.bc
head -c 4000 /dev/urandom >noise.bc
: >empty.bc
# LLVM aborts when it generates code for this valid bitcode.
cat >abort.ll <<'END'
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
define i32 @f() {
  %v = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %v
}
END
$CLANG -w -c -emit-llvm abort.ll -o abort.bc || fail "no bitcode for the abort"

unit() { printf '%s\t%s\t%s\t%s\t%s\t%s\t-\n' "$1" "$2" "$3" 1 "$PWD/$4.o" "$PWD/$4.sites"; }
for jobs in 1 2; do
	rm -f ./*.o ./*.sites
	{
		unit "$PWD/good.bc" 0 "$size" a
		unit "$PWD/cut.bc" 0 $((size / 2)) b
		unit "$PWD/noise.bc" 0 4000 c
		unit "$PWD/empty.bc" 0 0 d
		unit "$PWD/good.bc" 0 $((size * 2)) e
		unit "$PWD/missing.bc" 0 10 f
		unit "$PWD/abort.bc" 0 0 g
		unit "$PWD/good.bc" 0 "$size" h
	} >list
	"$INSTR" --flavour record --mode quick --hooks "$HOOKS" --jobs $jobs list 2>messages
	[ $? -eq 2 ] || fail "exit status is not 2"
	for name in a h; do
		[ -s $name.o ] && [ -s $name.sites ] || { cat messages; fail "unit $name was not made"; }
	done
	for word in cut.bc noise.bc empty.bc missing.bc abort.bc 'no .* bytes at 0'; do
		grep -q "$word" messages || { cat messages; fail "no message about $word"; }
	done
done

printf 'nonsense\n' >list
"$INSTR" --flavour record --mode quick --hooks "$HOOKS" list 2>messages && fail "nonsense was accepted"
grep -q 'list:1' messages || fail "the message does not name the line"
"$INSTR" --flavour other --mode quick --hooks "$HOOKS" list 2>messages && fail "an unknown flavour was accepted"
unit "$PWD/good.bc" 0 "$size" a >list
"$INSTR" --flavour record --mode quick --hooks /nonexistent list 2>messages && fail "no hooks, no error"
grep -q /nonexistent messages || fail "no message about the hooks"
: >list
"$INSTR" --flavour record --mode quick --hooks "$HOOKS" list || fail "an empty list is no error"
