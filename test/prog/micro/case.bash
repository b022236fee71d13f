# SPDX-License-Identifier: Apache-2.0
#
# For tests with the programs of this folder: converts what the head of each program expects, and
# what a finding document contains, to lines that can be compared:
#
#	race x 2               two races on x
#	race x 1 speculative   one race on x, which is speculative, not sound
#	deadlock a,b 1         one deadlock in which threads wait for a and b
#
# The head of a program has lines that begin with one of these words.  After the first five words, a
# finding in the form above follows.  After expect:, the number 1 may be left out.
#
#	expect:    an error, predicted from the recorded run and confirmed by replay
#	drop:      not an error: a speculative prediction, which replay drops
#	hidden:    not an error, but predicted: something that Raddle does not see orders the accesses
#	unproved:  an error that is predicted, but that replay cannot show; the text below explains why
#	missed:    an error that prediction from one run cannot find
#	status:    the program's exit status, if it is not 0
#	recorded:  in words, the order of the recorded run and why that run does not show the error
#
# Indices are left out (cell[]).  Memory without its own name is "heap", "stack", "mmap" or
# "unknown"; a file descriptor is "fd".

# build_case SOURCE OUT: compiles a program with raddle cc.  The tests of one run share what they
# build, in $SHARED, because micro.sh and three other tests use many of the same programs.
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

# expected_findings SOURCE: prints the findings that must be confirmed.
expected_findings() {
	sed -n 's,^// expect: \(race\|deadlock\) ,\1 ,p' "$1" | sed 's/^[a-z]* [^ ]*$/& 1/' | sort
}

# expected_predictions SOURCE: prints what must be predicted, including what replay must drop.
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

# Definitions for jq: lines(FILTER) makes such lines of the findings that the filter selects.
export case_lines='
	def place: gsub("\\[[0-9]+\\]"; "[]") | sub("^(?<kind>heap|stack|mmap|unknown|fd) .*"; .kind) | sub("\\+[0-9]+$"; "");
	def about: if .kind == "race" then (.object_detail.place // .object // "unknown" | place)
		else [.cycle[].wants // "unknown" | place] | sort | join(",") end;
	def lines(filter): [.findings[] | filter | {text: "\(.kind) \(about)", sound: .sound}] | group_by([.text, .sound])[] |
		"\(.[0].text) \(length)\(if .[0].sound then "" else " speculative" end)";'

# named FILE FILTER: prints such lines of the findings in FILE that the jq filter selects.
named() {
	jq -r "$case_lines lines($2)" "$1" | sort
}

# each_case FUNCTION [STEP [FIRST]]: calls the function with every program, or with every STEP-th
# from FIRST on, two at a time; fails if any call fails.
each_case() {
	export -f "$1" build_case compile_case expected_findings expected_predictions expected_status named
	printf '%s\n' "$ROOT"/test/prog/micro/*.c "$ROOT"/test/prog/micro/*.cpp | sed -n "${3:-1}~${2:-1}p" |
		xargs -d '\n' -P 2 -n 1 bash -c "set -u; $1 \"\$1\" 2>&1" each_case
}
