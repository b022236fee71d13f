#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Records each test/prog/prim-* program and compares the trace, event by event, with the comment at
# the beginning of the program:
#
#   THREAD: EVENT...          the events of a thread, in order; !X is a result
#   DIR THREAD: EVENT...      the same in the trace of a forked process
#   SHOW: KIND...             kinds that are otherwise left out
#   HIDE: THREAD KIND, ...    kinds that depend on the schedule
#
# The program's output and status must be as without Raddle.
. "$ROOT/test/lib.sh"

# expected SOURCE: prints the lines "[DIR:]THREAD EVENT" that the comment of the program expects.
expected() {
	sed -n 's/^ \* \(fork-[^ ]*\) \(T_[0-9_]*\): /\1:\2 /p; s/^ \* \(T_[0-9_]*\): /\1 /p' "$1" |
		awk '{ for (i = 2; i <= NF; i++) print $1, $i }' | sort -s -k1,1
}

# found DIRECTORY PREFIX: prints such lines for a trace.  What libgcc does to unwind the stack is
# left out.
found() {
	"$RADDLE" dump --json "$1" | tr '{' '\n' | grep '^"event"' | grep -v '"object":"libgcc_s' |
		awk -v prefix="$2" '
		function field(name) {
			if (!match($0, "\"" name "\":\"?[^\",}]*")) return ""
			value = substr($0, RSTART, RLENGTH)
			sub("\"" name "\":\"?", "", value)
			return value
		}
		BEGIN {
			n = split("1 EPERM 11 EAGAIN 16 EBUSY 22 EINVAL 35 EDEADLK 110 ETIMEDOUT " \
				  "125 ECANCELED 130 EOWNERDEAD", names, " ")
			kind["new"] = kind[2] = "-new"
			kind["new-array"] = kind[3] = "-new-array"
			for (i = 1; i < n; i += 2) error[names[i]] = names[i + 1]
		}
		{
			result = field("result") + 0
			print prefix field("thread"), field("event") kind[field("kind")] (result ? "!" error[result] : "")
		}'
	for child in "$1"/fork-*; do
		[ -d "$child" ] || continue
		found "$child" "${2:+${2%:}/}${child##*/}:"
	done
}

# visible SOURCE: removes what SOURCE hides, and what it does not show, from standard input.
visible() {
	local show hide
	show=$(sed -n 's/^ \* SHOW: //p' "$1")
	hide=$(sed -n 's/^ \* HIDE: //p' "$1" | tr '\n' ',')
	awk -v show="$show" -v hide="$hide" 'BEGIN {
		n = split("read write module frames alloc free unmap join-request once-request", all, " ")
		for (i = 1; i <= n; i++) hidden[all[i]] = 1
		n = split(show, shown, " ")
		for (i = 1; i <= n; i++) delete hidden[shown[i]]
		n = split(hide, pairs, ", *")
		for (i = 1; i <= n; i++) hidden_pair[pairs[i]] = 1
	} !($NF in hidden) && !($0 in hidden_pair)' | sort -s -k1,1
}

for source in "$ROOT"/test/prog/prim-*; do
	name=$(basename "${source%.*}")
	compiler=cc
	[ "${source##*.}" = cpp ] && compiler=c++
	if ! "$RADDLE" $compiler -D_GNU_SOURCE -g -O1 -pthread -o "$name" "$source" 2>log; then
		complain "$name: cannot build it"
		cat log
		continue
	fi
	"./$name" >native.out 2>&1
	native=$?
	"$RADDLE" record -o "$name.trace" "./$name" >raddle.out 2>&1
	status=$?
	[ $native = $status ] || complain "$name: status $status, without Raddle $native"
	cmp -s native.out raddle.out || complain "$name: other output: $(diff native.out raddle.out)"
	"$RADDLE" dump --check "$name.trace" >check.out 2>&1 || complain "$name: $(cat check.out)"
	expected "$source" >expected.txt
	[ -s expected.txt ] || complain "$name: expects nothing"
	found "$name.trace" "" | visible "$source" >found.txt
	diff expected.txt found.txt >diff.txt || complain "$name: < expected, > found"$'\n'"$(cat diff.txt)"
done
verdict
