#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Long runs leave out accesses at frequently executed places to frequently accessed memory, and
# report that.  A race between such accesses is still found, with the same id.  Short runs and
# --all-accesses leave nothing out.
. "$ROOT/test/lib.sh"

# left TRACE: prints the number of accesses that were left out.
left() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1] + "/meta.json"))["left_out"])' "$1"
}

# events TRACE: prints the number of events.
events() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1] + "/meta.json"))["events"])' "$1"
}

"$RADDLE" cc -O1 -g -pthread -o thin "$ROOT/test/prog/thin.c" || exit 1
"$RADDLE" record -o short.trace -- ./thin short >/dev/null || complain "short: status $?"
[ "$(left short.trace)" = None ] || complain "short run: $(left short.trace)"
"$RADDLE" record --all-accesses -o all.trace -- ./thin long >/dev/null || complain "all: status $?"
[ "$(left all.trace)" = None ] || complain "--all-accesses: $(left all.trace)"
"$RADDLE" record -v -o long.trace -- ./thin long >/dev/null 2>err || complain "long: status $?"
number=$(python3 -c 'import json; m = json.load(open("long.trace/meta.json"))["left_out"]; assert m["from"] > 0; print(m["accesses"])')
grep -q "left out $number accesses" err || complain "record says nothing: $(cat err)"
"$RADDLE" dump --check long.trace >check.out 2>&1 || complain "$(cat check.out)"
"$RADDLE" dump --summary long.trace | grep -q "^Left out: $number accesses" || complain "dump --summary says nothing"
[ "$(($(events long.trace) * 3 / 2))" -lt "$(events all.trace)" ] ||
	complain "$(events long.trace) of $(events all.trace) events were recorded"

"$RADDLE" predict --time 300 --json=long.json long.trace >out 2>&1
grep -q "$number accesses of busy places" out || complain "predict says nothing: $(cat out)"
where=$(grep -n 'if (stop)\|stop = 1' "$ROOT/test/prog/thin.c" | cut -d: -f1 | xargs)
races=$(python3 -c 'import json
for f in json.load(open("long.json"))["findings"]:
    print(f["kind"], *sorted(a["line"] for a in f["accesses"]), f["sound"])')
[ "$races" = "race $where False" ] || complain "$races: $(cat out)"

verdict
