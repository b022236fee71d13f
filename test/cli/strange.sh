# SPDX-License-Identifier: Apache-2.0
#
# Programs that were written after the rules for names, so that the rules were not made for them.
# Runs without a fault do not deviate, wherever memory is.  If a fault in a load or a result has an
# effect, the first deviation is the record of that fault, in its thread. bench/first-deviation and
# bench/pairs do the same with all of them.
. "$ROOT/test/lib.sh"
shown=(err.txt)
programs=(handed.c children.c threads.cc)
[ -z "${RADDLE_LONG:-}" ] || programs+=(list.c pipes.c turns.c shapes.cc)
for source in "${programs[@]}"; do
	name=${source%.*}
	"$RADDLE" "$([ "$source" = "$name.c" ] && echo cc || echo c++)" -g -O1 -pthread -o "$name" "$ROOT/test/prog/epa/strange/$source" || exit 1
	"$RADDLE" inject -q --aslr --golden 6 -n 12 --seed 3 --fault BitFlip --opcode load,result -o "$name.dir" -- "./$name" 2>err.txt ||
		{ complain "$name: not injected into"; continue; }
	jq -e 'select(.outcome == "crash" or .outcome == "hang" or .outcome == "detected" or .outcome == "sdc")
		| select(.deviation_site != .site or .deviation_thread != .thread)' "$name.dir/log" >wrong.txt
	grep -q "\"outcome\":\"\(crash\|sdc\|detected\)\"" "$name.dir/log" || complain "$name: nothing came of any fault"
	[ ! -s wrong.txt ] || complain "$name: another first deviation: $(cat wrong.txt)"
done
verdict
