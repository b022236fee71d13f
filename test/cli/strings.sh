# SPDX-License-Identifier: Apache-2.0
# Accesses of the C++ library to a string of the program count as accesses of the program, whether
# inlined or not.  Accesses to a stream do not.
. "$ROOT/test/lib.sh"
shown=(err)

# look LEVEL MODE: compiles with this level of optimisation and checks each case in this mode.
look() {
	local how wanted got
	"$RADDLE" c++ $1 -g -pthread "$ROOT/test/prog/strings.cc" -o strings || exit 1
	for how in assign append clear copy locked streams; do
		wanted=1 got=0
		case $how in locked | streams) wanted=0 ;; esac
		"$RADDLE" check --no-classify $2 -o "of-$how$1" -- ./strings $how >out.txt 2>err </dev/null || got=$?
		[ $got = $wanted ] || complain "$how $1 $2: status $got instead of $wanted"
		jq -e --argjson wanted $wanted '[.findings[] | select(.kind == "race" and .status == "confirmed")] | if $wanted == 1 then length > 0 and all(.object | test("shared")) else length == 0 end' \
			"of-$how$1/findings.json" >/dev/null ||
			complain "$how $1 $2: $(jq -c '[.findings[] | [.kind, .status, .object]]' "of-$how$1/findings.json")"
	done
}
look -O0 --quick
look -O1 --fast
look -O2 --quick
verdict
