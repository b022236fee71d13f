#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the calls or the points-to sets of facts as lines that a test compares.

show.py calls|points < FACTS.json"""
import bisect
import json
import sys

facts = json.load(sys.stdin)
starts = [f["values"] for f in facts["functions"]]
members = [s["members"] for s in facts["sets"]] + [len(facts["members"])]


def owner(value):
    return facts["functions"][bisect.bisect_right(starts, value) - 1]["name"]


def place(number):
    p = facts["places"][number]
    name, at = facts["objects"][p["object"]]["name"], p["offset"]
    return name + ("+?" if at == -1 else f"+{at}" if at else "")


def show(number):
    return " ".join(sorted(place(m["place"]) for m in facts["members"][members[number]:members[number + 1]]))


lines = set()
if sys.argv[1] == "calls":
    kinds = ["call", "indirect", "start", "callback", "later"]
    for c in facts["calls"]:
        function = facts["functions"][c["function"]]
        if c["kind"] or not function["flags"] & 1:
            lines.add(f"{owner(c['value'])} {kinds[c['kind']]} {function['name']}")
else:
    for a in facts["accesses"]:
        v = facts["values"][a["value"]]
        lines.add(f"{owner(a['value'])} {('read', 'write', 'both')[a['kind']]} {v['what']}: {show(a['set'])}")
print("\n".join(sorted(lines)))
