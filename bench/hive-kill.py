# SPDX-License-Identifier: Apache-2.0
"""Kills a hive at random moments while sites report, and counts what was lost.

usage: hive-kill.py RADDLE DATABASE BUILD PROGRAM TIMES [OPTION...]

Four threads report without a pause and remember which reports were acknowledged.  After each
SIGKILL the hive is started again on the same database.  At the end the database must contain every
acknowledged report, and the verdicts must be those that another hive computes from all rows.  The
rows of a postgres:// database are read with psql."""
import http.client
import json
import os
import random
import sqlite3
import subprocess
import sys
import threading
import time

RADDLE, DATABASE, BUILD, PROGRAM, TIMES = sys.argv[1:5] + [int(sys.argv[5])]
random.seed(os.getpid())
acknowledged = []
state = {"port": 0, "stop": False}


def start():
    hive = subprocess.Popen([RADDLE, "hive", "serve", "--listen", "127.0.0.1:0", "--rate", "0", "--db", DATABASE], stdout=subprocess.PIPE, text=True)
    state["url"] = hive.stdout.readline().strip()
    state["port"] = int(state["url"].rsplit(":", 1)[1])
    return hive


def ask(method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", state["port"], timeout=30)
    try:
        connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def work(number, candidates):
    sequence = 0
    while not state["stop"]:
        run, sequence = f"{number:08x}{random.getrandbits(32):08x}", sequence + 1
        reports = [{"run": run, "seq": i, "candidate": random.choice(candidates), "result": "no-race", "order": "primary"} for i in range(3)]
        body = {"version": 1, "build": BUILD, "site": f"{number + 1:032x}", "reports": reports}
        try:
            status, _ = ask("POST", "/api/v1/reports", body)
        except (OSError, http.client.HTTPException):
            continue
        if status == 200:
            acknowledged.extend((f"{number + 1:032x}", run, i) for i in range(3))


def stored():
    if DATABASE.startswith("postgres"):
        text = subprocess.run(["psql", "-At", DATABASE, "-c", "SELECT site, run, seq FROM reports"], capture_output=True, text=True, check=True).stdout
        return [(s, r, int(n)) for s, r, n in (line.split("|") for line in text.splitlines())]
    return sqlite3.connect(DATABASE).execute("SELECT site, run, seq FROM reports").fetchall()


def main():
    hive = start()
    subprocess.run([RADDLE, "hive", "add", "--hive", state["url"], PROGRAM], check=True, stdout=subprocess.DEVNULL)
    candidates = [r["id"] for r in json.loads(ask("GET", "/api/v1/status")[1])["races"]]
    threads = [threading.Thread(target=work, args=(i, candidates)) for i in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(TIMES):
        time.sleep(random.uniform(0, 0.2))
        hive.kill()
        hive.wait()
        hive = start()
    time.sleep(0.2)
    state["stop"] = True
    for thread in threads:
        thread.join()
    rows = stored()
    lost = set(acknowledged) - set(rows)
    told = sum(r["reports"]["no-race"] for r in json.loads(ask("GET", "/api/v1/status")[1])["races"])
    hive.terminate()
    hive.wait()
    print(json.dumps({"name": "kill", "kills": TIMES, "acknowledged": len(acknowledged), "stored": len(rows), "lost": len(lost),
                      "twice": len(rows) - len(set(rows)), "folded": told}))
    sys.exit(0 if not lost and len(rows) == len(set(rows)) == told and acknowledged else 1)


main()
