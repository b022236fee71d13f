# SPDX-License-Identifier: Apache-2.0
#
# For tests over the programs of this folder: what the head of each promises, and
# what a finding document holds, as lines that can be compared:
#
#	race x 2               two findings about x
#	race x 1 speculative   one that only the value-blind model has
#	deadlock a,b 1         one cycle in which a and b are waited for
#
# The head of a program has such lines behind one of these words (1 may be left out):
#
#	expect:    an error, predicted from the recorded run and confirmed by replay
#	drop:      predicted by the value-blind model only, and no error: replay drops it
#	hidden:    predicted, and no error: something orders the accesses that Raddle does not see
#	unproved:  an error, predicted, that replay cannot bring about; the text below says why
#	missed:    an error that the model of one run does not have
#	status:    what the program ends with, if not 0
#	recorded:  in words, the order of the recorded run and why it shows nothing
#
# Indices are left out (cell[]), memory without a name of its own is "heap",
# "stack", "mmap" or "unknown", a file descriptor is "fd".

# build_case SOURCE OUT: with raddle cc.  The tests of one run share what they build, in $SHARED: micro.sh takes every
# second program in its long form, and three other tests take most of these again.
build_case() {
	local shared=${SHARED:-$PWD/shared} name
	name=$(basename "$1")
	if [ ! -e "$shared/$name" ]; then
		mkdir -p "$shared"
		compile_case "$1" "$shared/$name.$$" && mv "$shared/$name.$$" "$shared/$name" || return
	fi
	cp "$shared/$name" "$2"
}

compile_case() {
	case $1 in
	*.cpp) "$RADDLE" c++ -std=c++17 -O1 -g -pthread "$1" -o "$2" ;;
	*) "$RADDLE" cc -O1 -g -pthread "$1" -o "$2" ;;
	esac
}

# What must be confirmed.
expected_findings() {
	sed -n 's,^// expect: \(race\|deadlock\) ,\1 ,p' "$1" | sed 's/^[a-z]* [^ ]*$/& 1/' | sort
}

# What must be predicted: also what replay must drop again.
expected_predictions() {
	{
		expected_findings "$1"
		sed -n 's,^// \(unproved\|hidden\): ,,p' "$1"
		sed -n 's,^// drop: \(.*\),\1 speculative,p' "$1"
	} | sort
}

expected_status() {
	local status
	status=$(sed -n 's,^// status: ,,p' "$1")
	echo "${status:-0}"
}

# named FILE FILTER: the findings of a document that a jq filter chooses.
named() {
	jq -r '
	def place: gsub("\\[[0-9]+\\]"; "[]") | sub("^(?<kind>heap|stack|mmap|unknown|fd) .*"; .kind) | sub("\\+[0-9]+$"; "");
	def about: if .kind == "race" then (.object_detail.place // .object // "unknown" | place)
		else [.cycle[].wants // "unknown" | place] | sort | join(",") end;
	[.findings[] | '"$2"' | {text: "\(.kind) \(about)", sound: .sound}] | group_by([.text, .sound])[] |
	"\(.[0].text) \(length)\(if .[0].sound then "" else " speculative" end)"' "$1" | sort
}

# each_case FUNCTION [STEP [FIRST]]: calls it with every program, or with every STEP-th from FIRST on, two at a
# time; fails if any call does.
each_case() {
	export -f "$1" build_case compile_case expected_findings expected_predictions expected_status named
	printf '%s\n' "$ROOT"/test/prog/micro/*.c "$ROOT"/test/prog/micro/*.cpp | sed -n "${3:-1}~${2:-1}p" |
		xargs -d '\n' -P 2 -n 1 bash -c "set -u; $1 \"\$1\" 2>&1" each_case
}
