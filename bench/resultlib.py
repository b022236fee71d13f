# SPDX-License-Identifier: Apache-2.0
"""Records the results of benchmarks: bench/results/AREA.json has the newest value of each figure.

usage: python3 bench/resultlib.py AREA FIGURE MEASURED [--unit U] [--goal G] [--peer P]

A program records each figure when it is measured; the new value replaces the old one of the same
name.  A goal is a comparison ("<= 0.5", ">= 100", "= 0"); a peer is the result of another tool
("ThreadSanitizer 8.4").  This module adds commit, load average and date.  A + after the commit
means uncommitted changes in src/.  RADDLE_RESULTS names another directory; if it is empty, nothing
is recorded.
`make figures` makes doc/figures.md from these files."""

import argparse
import json
import math
import os
import re
import subprocess
import time

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GOAL = re.compile(r"(<=|>=|=) (-?[0-9.]+)")


def folder(root=HOME):
    return os.environ.get("RADDLE_RESULTS", os.path.join(root, "bench", "results"))


def is_met(measured, goal):
    """Whether the goal is met; None if there is no goal."""
    if not goal:
        return None
    comparison, limit = GOAL.fullmatch(goal).groups()
    limit = float(limit)
    return {"<=": measured <= limit, ">=": measured >= limit, "=": measured == limit}[comparison]


def commit(root):
    """Returns the commit of the tree, with + if src/ has uncommitted changes; None outside a
    repository."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout.strip()
    try:
        return git("rev-parse", "--short=10", "HEAD") + ("+" if git("status", "--porcelain", "src") else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def record(area, figure, measured, unit="", goal="", peer="", root=HOME):
    """Puts a figure into the file of its area.  A value that could not be measured (None, NaN) is
    not recorded."""
    if goal and not GOAL.fullmatch(goal):
        raise ValueError("a goal is '<= N', '>= N' or '= N', not '%s'" % goal)
    if not re.fullmatch(r"[a-z][a-z0-9-]*", area):
        raise ValueError("an area is a word, not '%s'" % area)
    if not folder(root) or measured is None or math.isnan(measured):
        return
    os.makedirs(folder(root), exist_ok=True)
    path = os.path.join(folder(root), area + ".json")
    figures = read(path)["figures"] if os.path.exists(path) else []
    row = {"figure": figure, "goal": goal, "peer": peer, "measured": measured, "unit": unit, "commit": commit(root),
           "load": round(os.getloadavg()[0], 1), "date": time.strftime("%Y-%m-%d")}
    names = [f["figure"] for f in figures]
    if figure in names:
        figures[names.index(figure)] = row
    else:
        figures.append(row)
    temporary = path + ".new"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump({"area": area, "figures": figures}, file, indent=1, ensure_ascii=False)
        file.write("\n")
    os.replace(temporary, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("area")
    parser.add_argument("figure")
    parser.add_argument("measured", type=float)
    for option in ("unit", "goal", "peer"):
        parser.add_argument("--" + option, default="")
    record(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
