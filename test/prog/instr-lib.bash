# SPDX-License-Identifier: Apache-2.0
# Functions for tests of the instrumenter alone: clang compiles the units, and instr-stub.c replaces
# the runtime.

INSTR=$BUILD/raddle-instr
HOOKS=$BUILD/hook-record.bc
CLANG=clang-19
[ -x "$INSTR" ] || { echo "no raddle-instr"; exit 77; }

# bitcode SOURCE [FLAG...]: writes the bitcode of SOURCE, as raddle cc embeds it, to NAME.bc
bitcode() {
	local source=$1 name
	name=$(basename "${source%.*}")
	shift
	$CLANG -O2 -g -w -Xclang -disable-llvm-passes -emit-llvm -c "$source" -o "$name.bc" "$@"
}

# instrument MODE NAME [OPTION...]: makes NAME.MODE.o and NAME.MODE.sites from NAME.bc
instrument() {
	local mode=$1 name=$2
	shift 2
	printf '%s\t0\t0\t0\t%s\t%s\t-\n' "$PWD/$name.bc" "$PWD/$name.$mode.o" "$PWD/$name.$mode.sites" >"$name.jobs"
	"$INSTR" --flavour record --mode "$mode" --hooks "$HOOKS" "$@" "$name.jobs"
}

# program MODE NAME [ARGUMENT...]: links NAME.MODE.o with the replacement of the runtime, which is
# compiled once
program() {
	local mode=$1 name=$2 f
	shift 2
	for f in test/prog/instr-stub src/target/rt/core/memory/string src/target/rt/record/hook; do
		[ -e "${f##*/}.o" ] || $CLANG -O2 -D_GNU_SOURCE= -I"$ROOT/src/contract" -I"$ROOT/src/target" -c "$ROOT/$f.c" || exit 1
	done
	$CLANG -o "$name.$mode" "$name.$mode.o" instr-stub.o string.o hook.o -lpthread -lm "$@"
}

fail() {
	echo "$*"
	exit 1
}
