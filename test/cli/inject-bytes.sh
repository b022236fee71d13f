# SPDX-License-Identifier: Apache-2.0
#
# An address is copied byte by byte, and a fault changes one of the bytes.  The fault must be the
# first deviation, although such bytes are not compared.
. "$ROOT/test/lib.sh"

"$RADDLE" cc -g -O1 -pthread -o bytewise "$ROOT/test/prog/epa/strange/bytewise.c" || fail "cc"
"$RADDLE" inject -q -j2 --fault BitFlip --opcode load --function copy --seed 5 -n 40 -o faults -- ./bytewise 2>err || fail "$(cat err)"
python3 - <<'END' || complain "first deviations"
import json
runs = [json.loads(line) for line in open("faults/log")]
effect = [r for r in runs if r["outcome"] in ("crash", "hang", "detected", "sdc")]
wrong = [r for r in effect if (r["deviation_site"], r["deviation_thread"]) != (r["site"], r["thread"])]
assert len(effect) >= 20, len(effect)
assert not wrong, wrong
END
verdict
