# SPDX-License-Identifier: Apache-2.0
#
# Faults in forked processes: a fault hits the process that --process names, and the outcome is that
# of the whole program.
. "$ROOT/test/lib.sh"

"$RADDLE" cc -g -O1 -pthread -o forks "$ROOT/test/prog/epa/forks.c" || fail "cc"
inject() { "$RADDLE" inject -q -j2 --fault BitFlip --seed 3 "$@" 2>err; }

for process in P_0_0 P_0_1; do
	inject --process $process -n 40 --opcode load,result -o $process -- ./forks || fail "$process: $(cat err)"
	python3 - $process <<'END' || complain "$process"
import json, sys
name = sys.argv[1]
runs = [json.loads(line) for line in open(name + "/log")]
effect = [r for r in runs if r["outcome"] in ("crash", "hang", "detected", "sdc")]
wrong = [r for r in effect if (r["deviation_site"], r["deviation_thread"]) != (r["site"], r["thread"])]
assert len(runs) == 40 and len(effect) >= 20, len(effect)
assert not wrong, wrong
assert all(r["plan"].startswith(name + "/T_0") for r in runs), runs[0]["plan"]
assert {"T_0", "T_0_0"} == {r["thread"] for r in runs}
# The parent aborts if a child fails.
assert any(r["outcome"] == "detected" and r["signal"] == "SIGABRT" for r in runs)
# The campaign names the process.
assert json.load(open(name + "/campaign.json"))["process"] == name
END
done

# The same fault is made again, in the campaign and alone.
run=$(python3 -c 'import json; print(next(r["run"] for r in map(json.loads, open("P_0_1/log")) if r["outcome"] == "sdc" and r["thread"] == "T_0_0"))')
"$RADDLE" inject -q --run "$run" -o P_0_1 --trace again >line 2>err || complain "run $run again: $(cat err)"
python3 - "$run" <<'END' || complain "run $run is another one when it is repeated"
import json, sys
first = next(r for r in map(json.loads, open("P_0_1/log")) if r["run"] == int(sys.argv[1]))
again = json.loads(open("line").read())
assert all(first[k] == again[k] for k in ("plan", "outcome", "before", "after", "deviation_site", "deviation_thread"))
open("plan", "w").write(first["plan"])
END
"$RADDLE" compare P_0_1/golden/trace again >out
[ $? -eq 1 ] || complain "compare: $(cat out)"
"$RADDLE" record --flavour full --fault "$(cat plan)" -o alone -- ./forks >got
./forks >expected
[ "$(sed -n 1p got)" = "$(sed -n 1p expected)" ] && [ "$(sed -n 2p got)" != "$(sed -n 2p expected)" ] ||
	complain "the fault is not in the second child: $(cat got)"
"$RADDLE" dump alone/fork-1 | grep -q '^T_0_0 *fault' || complain "the trace of the child has no fault"

# A process that does not exist, and invalid names, are refused.
inject --process P_0_2 -n 1 -o none -- ./forks && complain "P_0_2 is there"
grep -q 'makes no process P_0_2' err || complain "P_0_2: $(cat err)"
for name in P_1 P_0_ T_0 P_0_x ''; do
	inject --process "$name" -n 1 -o none -- ./forks
	[ $? -eq 2 ] && grep -q 'processes are named P_0' err || complain "--process '$name': $(cat err)"
done
verdict
