#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks points-to sets against a recorded run: oracle.py FACTS.json TRACE.json

Accesses that touched the same bytes of the same object in the run must have points-to sets that
overlap.  Objects are the global variables (taken as one object) and each allocation; the stack is
left out, since its addresses are used again.  Prints how many pairs of sites were compared.  Fails
and prints the pairs whose sets do not overlap."""
import json
import re
import sys
from collections import defaultdict

facts, trace = (json.load(open(path)) for path in sys.argv[1:3])
starts = [s["members"] for s in facts["sets"]] + [len(facts["members"])]
ANYWHERE = -1


def places(number):
    out = defaultdict(list)
    for m in facts["members"][starts[number]:starts[number + 1]]:
        place = facts["places"][m["place"]]
        out[place["object"]].append(place["offset"])
    return out


def overlap(a, a_size, b, b_size):
    for o in a.keys() & b.keys():
        for x in a[o]:
            for y in b[o]:
                if ANYWHERE in (x, y) or ((not a_size or y < x + a_size) and (not b_size or x < y + b_size)):
                    return True
    return False


accesses = defaultdict(list)
for a in facts["accesses"]:
    accesses[a["site"]].append(a)
modules, touched = [], defaultdict(set)
for e in trace["events"]:
    if e["event"] == "module":
        modules.append((e["base"], e["base"] + e["size"]))
        continue
    if "address" not in e or "size" not in e or not e.get("stack") or e["event"] in ("alloc", "free", "realloc"):
        continue
    site = e["stack"][0]["site"]
    heap = re.search(r"heap (\S+#\d+)", e.get("object") or "")
    mine = modules and modules[0][0] <= e["address"] < modules[0][1]
    if site in accesses and (heap or mine):
        name = heap.group(1).rstrip(",)") if heap else "global"
        touched[name].add((e["address"], e["address"] + e["size"], site))
checked, wrong, known = set(), [], {}
for name, spans in touched.items():
    spans = sorted(spans)
    for i, (low, high, site) in enumerate(spans):
        for other_low, other_high, other in spans[i:]:
            if other_low >= high:
                break
            pair = (min(site, other), max(site, other))
            if pair in checked:
                continue
            checked.add(pair)
            if not any(overlap(known.setdefault(a["set"], places(a["set"])), a["size"],
                               known.setdefault(b["set"], places(b["set"])), b["size"])
                       for a in accesses[pair[0]] for b in accesses[pair[1]]):
                wrong.append((name, pair))


def show(site):
    a = accesses[site][0]
    v = facts["values"][a["value"]]
    names = [facts["objects"][o]["name"] + str(x) for o, x in list(places(a["set"]).items())[:6]]
    return f"{v['file']}:{v['line']} {v['what']} {names}"


for name, (a, b) in wrong[:10]:
    print(f"{name}: {show(a)}\n    and {show(b)}")
print(f"{len(checked)} pairs, {len(wrong)} excluded")
sys.exit(bool(wrong) or not checked)
