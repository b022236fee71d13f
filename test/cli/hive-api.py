# SPDX-License-Identifier: Apache-2.0
"""Plays sites and developers against a hive, for hive-api.sh: every answer must be one that doc/format/hive-api.json allows.

    hive-api.py URL DESCRIPTION PROGRAM.json
"""
import base64
import http.client
import json
import sys
import urllib.parse

import jsonschema

URL = urllib.parse.urlparse(sys.argv[1])
API = json.load(open(sys.argv[2], encoding="utf-8"))
PROGRAM = json.load(open(sys.argv[3], encoding="utf-8"))
BUILD = PROGRAM["build"]
IDS = [c["id"] for c in PROGRAM["candidates"]]
JSON = {"Content-Type": "application/json"}
answered = set()


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def operation(method, path):
    """The path of the description that a path is one of."""
    parts = path.split("?")[0].split("/")
    for pattern, methods in API["paths"].items():
        names = pattern.split("/")
        if len(names) == len(parts) and all(n == p or n.startswith("{") for n, p in zip(names, parts)) and method in methods:
            return pattern, methods[method]
    return None, None


def conforms(method, path, status, headers, body):
    """The answer is described, and is as described."""
    pattern, described = operation(method.lower(), path)
    if described is None:
        check(status in (404, 405) and "error" in json.loads(body), f"{method} {path}: {status} of a path that is not described")
        return
    check(str(status) in described["responses"], f"{method} {path}: {status} is not described: {body[:200]}")
    answer = described["responses"][str(status)]
    answered.add((pattern, method.lower(), str(status)))
    for kind, content in answer.get("content", {}).items():
        check(headers["Content-Type"].startswith(kind), f"{path}: {headers['Content-Type']} instead of {kind}")
        if kind == "application/json":
            schema = {**content["schema"], "components": API["components"]}
            jsonschema.Draft202012Validator(schema).validate(json.loads(body))
    for name, header in answer.get("headers", {}).items():
        jsonschema.validate(headers[name], header["schema"])


def ask(method, path, body=None, headers=None, raw=None):
    connection = http.client.HTTPConnection(URL.hostname, URL.port, timeout=60)
    data = raw if raw is not None else json.dumps(body) if body is not None else None
    connection.request(method, path, data, JSON if headers is None and data is not None else headers or {})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    conforms(method, path, answer.status, answer.headers, text)
    return answer.status, answer.headers, text


def site(number):
    return f"{number + 1:032x}"


def poll(number, task=None, **headers):
    query = f"/api/v1/tasks?build={BUILD}&site={site(number)}" + (f"&task={task}" if task else "")
    return ask("GET", query, headers=headers)


def report(number, run, reports, expect=200):
    for i, it in enumerate(reports):
        it.setdefault("run", f"{run:016x}")
        it.setdefault("seq", i)
    status, _, text = ask("POST", "/api/v1/reports", {"version": 1, "build": BUILD, "site": site(number), "reports": reports})
    check(status == expect, f"reports: {status} {text}")
    return json.loads(text)


def race(candidate):
    return json.loads(ask("GET", f"/api/v1/races/{BUILD}/{candidate}")[2])


MET = {"first": True, "second": True, "same_address": True, "two_threads": True}

# Before the program is there.
status, headers, _ = poll(0)
check(status == 404 and int(headers["Retry-After"]) > 0, "a build that is not known")
check(ask("POST", "/api/v1/programs", PROGRAM)[0] == 200, "the program is not taken")
check(ask("POST", "/api/v1/programs", {**PROGRAM, "build": "../x"})[0] == 400, "a wrong build is taken")
check(ask("POST", "/api/v1/programs", {**PROGRAM, "candidates": PROGRAM["candidates"][:1] * 2})[0] == 400, "twins are taken")

# Polls: signed, the same for the same site, spread over the candidates, 304 for what is known.
tasks = {}
for i in range(40):
    status, headers, text = poll(i)
    task = json.loads(text)["tasks"][0]
    tasks.setdefault(task["candidate"], 0)
    check(task["mode"] == "observe", "nothing was observed yet")
    check(len(base64.b64decode(headers["Raddle-Signature"])) == 64, "no signature")
check(len(tasks) == len(IDS), f"40 sites look at {len(tasks)} of {len(IDS)} candidates")
again = poll(39, task["id"])
check(again[2] == text and again[1]["Raddle-Signature"] == headers["Raddle-Signature"], "another task without a reason")
check(poll(39, task["id"], **{"If-None-Match": headers["ETag"]})[0] == 304, "no 304")
for wrong in ("build=x&site=1", f"build={BUILD}", f"build={BUILD}&site=" + "g" * 32):
    check(ask("GET", "/api/v1/tasks?" + wrong)[0] == 400, wrong)

# Contexts promote a candidate: who has it validates.
held = json.loads(text)["tasks"][0]
report(39, 1, [{"candidate": held["candidate"], "result": "context", "context": MET}])
task = json.loads(poll(39, held["id"])[2])["tasks"][0]
check(task["candidate"] == held["candidate"] and task["mode"] == "validate" and task["tau_us"] == 1000, f"not promoted: {task}")

# Time-outs raise the pause, then turn the order, then the site gets another candidate.
pauses = []
while task["candidate"] == held["candidate"] and len(pauses) < 20:
    pauses.append((task["order"], task["tau_us"]))
    receipt = report(39, 100 + len(pauses), [{"candidate": task["candidate"], "result": "timeout", "order": task["order"], "tau_us": task["tau_us"]}])
    check(receipt["poll"], "no hint to poll")
    task = json.loads(poll(39, task["id"])[2])["tasks"][0]
first, other = task_orders = [pauses[0][0], "alternate" if pauses[0][0] == "primary" else "primary"]
check(pauses == [(o, t) for o in task_orders for t in (1000, 51000, 101000, 151000, 200000)], f"pauses: {pauses}")
found = race(held["candidate"])
check((found["verdict"], found["reason"]) == ("likely-false-positive", "order-not-reached"), f"{found['verdict']} {found['reason']}")

# A race: idempotent, retired for all.
# Not one that the site above had, which another epoch draws.
target, second = [i for i in IDS if i != held["candidate"]][:2]
for i in range(2):
    receipt = report(1, 7, [{"candidate": target, "result": "race", "order": "primary", "proof": "happens-before"},
                            {"candidate": target, "result": "race", "order": "primary", "proof": "happens-before", "consequence": "crash", "signal": 11}])
    check((receipt["accepted"], receipt["duplicate"]) == ((2, 0), (0, 2))[i], f"not idempotent: {receipt}")
found = race(target)
check(found["verdict"] == "true-race" and found["reports"]["race"] == 2 and found["consequences"] == {"crash": 1}, f"{found}")
check(len(found["sites"]) == 1 and len(found["evidence"]) == 2, "sites or evidence are missing")
for i in range(60):
    check(json.loads(poll(i)[2])["tasks"][0]["candidate"] != target, "a true race is still given out")

# Wrong reports are rejected by themselves, wrong documents as a whole.
receipt = report(2, 8, [{"candidate": "0" * 16, "result": "race", "order": "primary", "proof": "collision"}, {"candidate": second, "result": "no-race", "order": "primary"},
                        {"candidate": second, "result": "race"}, {"candidate": second, "result": "maybe"}])
check(receipt["accepted"] == 1 and sorted(r["index"] for r in receipt["rejected"]) == [0, 2, 3], f"{receipt}")
check((race(second)["verdict"], race(second)["reason"]) == ("likely-false-positive", "synchronisation"), "no-race is not counted")
for raw in ("", "{", "[]", "[" * 100, '{"version":2}', '{"version":1,"build":"x","site":"y","reports":[]}'):
    check(ask("POST", "/api/v1/reports", raw=raw)[0] == 400, raw)
check(ask("POST", "/api/v1/reports", raw="x" * 70000)[0] == 413, "a large body is taken")
check(ask("POST", "/api/v1/reports", {}, headers={"Content-Type": "text/plain"})[0] == 403, "a form of another page is taken")
check(ask("GET", "/api/v1/programs", headers={"Host": "evil.example"})[0] == 403, "another name of this machine is answered")
check(ask("POST", "/api/v1/reports", {"version": 1, "build": "0" * 16, "site": site(0), "reports": []})[0] == 404, "a build that is not known")
check(ask("GET", "/api/v1/nothing")[0] == 404 and ask("PUT", "/api/v1/tasks", {})[0] == 405, "paths and methods")

# Settings: the kill switch, the roll-out.
patch = lambda **settings: ask("PATCH", f"/api/v1/programs/{BUILD}", settings)[0]
check(patch(state="off") == 200 and patch(state="on") == 400 and patch(rollout=101) == 400 and patch(poll_s=0) == 400, "settings")
off = json.loads(poll(5)[2])
check(off["state"] == "off" and not off["tasks"], "the kill switch does not work")
check(patch(state="validate", rollout=30, poll_s=60) == 200, "settings")
sets = [json.loads(poll(i)[2]) for i in range(200)]
share = sum(s["state"] == "validate" for s in sets)
check(30 < share < 90 and sets[0]["poll_s"] == 60, f"{share} of 200 sites are in a roll-out of 30 %")
check(sets[0]["serial"] > off["serial"], "the serial does not grow")
check(ask("PATCH", "/api/v1/programs/00000000", {})[0] == 404, "settings of nothing")

# Classes, health, metrics, the description itself.
check(ask("PUT", f"/api/v1/races/{BUILD}/{target}/class", {"class": "spec-violated", "consequence": "crash"})[0] == 200, "a class")
check(ask("PUT", f"/api/v1/races/{BUILD}/{target}/class", {"class": "bad"})[0] == 400, "a wrong class")
check(ask("PUT", f"/api/v1/races/{BUILD}/{'0' * 16}/class", {"class": "spec-violated"})[0] == 404, "a class of nothing")
check(race(target)["class"] == "spec-violated" and race(target)["reports"]["race"] == 2, "the class is lost, or the reports")
check(ask("GET", f"/api/v1/races/{BUILD}/{'0' * 16}")[0] == 404, "a race that is not known")
check(ask("GET", "/healthz")[0] == 200 and ask("GET", "/api/v1/key")[0] == 200, "health or key")
check(b"raddle_hive_reports_total 14" in ask("GET", "/metrics")[2], "metrics")
check(json.loads(ask("GET", "/api/v1/openapi.json")[2]) == API, "another description")
status = json.loads(ask("GET", "/api/v1/status")[2])
check(status["programs"][0]["verdicts"]["true-race"] == 1 and len(status["races"]) == len(IDS), "status")
check(ask("GET", f"/api/v1/status?build={BUILD}")[0] == 200 and ask("GET", "/api/v1/status?build=00000000")[0] == 404, "status of a build")
check(ask("GET", "/api/v1/programs")[0] == 200, "programs")

# A failure to explain: what tells failing from passing runs is the order of two statements, which only a larger sigma shows.
STATEMENT = {"file": "a.c", "function": "f", "column": 1, "variable": "x", "operation": None, "found": False}
PLAN = {"version": 1, "kind": "crash", "file": "a.c", "line": 9, "sigma": 4, "statements": [
    {**STATEMENT, "line": 9, "kind": "read", "role": "reads", "distance": 0, "source": "use(x);"},
    {**STATEMENT, "line": 5, "kind": "write", "role": "writes", "distance": 2, "source": "x = 0;"}]}
check(ask("POST", f"/api/v1/sketches/{BUILD}", PLAN)[0] == 200, "a plan is not taken")
check(ask("POST", f"/api/v1/sketches/{BUILD}", {**PLAN, "statements": []})[0] == 400, "a plan without statements is taken")
check(ask("POST", "/api/v1/sketches/00000000", PLAN)[0] == 404, "a plan of nothing is taken")
check(patch(rollout=100) == 200, "settings")
tracked = lambda: json.loads(ask("GET", "/api/v1/status")[2])["sketches"][0]
sketch = tracked()["id"]
sets = [json.loads(poll(i)[2])["tasks"][0] for i in range(40)]
check(20 < sum(t["mode"] == "track" and (t["sketch"], t["line"], t["sigma"]) == (sketch, 9, 2) for t in sets) < 40, f"{sets}")
names = iter(range(1000, 2000))


def send(sigma, outcome, events, number=1, name=None, **more):
    run = {"sketch": sketch, "run": f"{name or next(names):016x}", "sigma": sigma, "outcome": outcome, "events": events, **more}
    status, _, text = ask("POST", "/api/v1/runs", {"version": 1, "build": BUILD, "site": site(number), "runs": [run]})
    return status, json.loads(text)


for i in range(10):
    check(send(2, "passed", [[1, 0, 1]])[1]["accepted"] == 1, "a run that passed is not taken")
check(send(2, "passed", [[1, 0, 1]], name=1001)[1]["duplicate"] == 1, "not idempotent")
check(send(2, "crash", [[1, 0, 1]])[1]["poll"] and tracked()["sigma"] == 4, "sigma is not doubled")
check(send(2, "crash", [[1, 0, 1]])[1]["unwanted"] == 1, "an old sigma is still wanted")
for i in range(30):
    send(4, "passed", [[1, 0, 1], [0, 1, 1]])
for i in range(3):
    check(tracked()["state"] == "tracking" and send(4, "crash", [[0, 1, 1], [1, 0, 1]], thread=1)[0] == 200, "a failing run")
check(tracked()["state"] == "explained" and send(4, "crash", [])[1]["unwanted"] == 1, f"{tracked()}")
for wrong in ([[1, 2, 1]], [[1, 0]], [[-1, 0, 1]], [[1, 0, 1, 2]], [[0, 0, 0, "1", 4]], [[0, 0, 0]] * 1501, 7):
    check(send(4, "crash", wrong)[0] == 400, f"{wrong}"[:60])
check(send(4, "maybe", [])[0] == 400 and ask("POST", "/api/v1/runs", raw="{")[0] == 400, "a wrong run is taken")
other = {"sketch": "0" * 16, "run": "0" * 16, "sigma": 2, "outcome": "passed", "events": []}
check(ask("POST", "/api/v1/runs", {"version": 1, "build": BUILD, "site": site(0), "runs": [other]})[0] == 404, "a sketch that is not known")
drawn = json.loads(ask("GET", f"/api/v1/sketches/{BUILD}/{sketch}")[2])["sketches"][0]
check(drawn["predictors"][0]["pattern"] == "WR" and [p["line"] for p in drawn["predictors"][0]["places"]] == [5, 9], f"{drawn}")
check([s["source"] for s in drawn["steps"]] == ["x = 0;", "use(x);"] and not any(s["values"] for s in drawn["steps"]), f"{drawn['steps']}")
for form in ("", "/page", "/text"):
    check(ask("GET", f"/api/v1/sketches/{BUILD}/{sketch}{form}")[0] == 200, "a sketch in that form")
    check(ask("GET", f"/api/v1/sketches/{BUILD}/{'0' * 16}{form}")[0] == 404, "a sketch that is not there")

# Everything that is described was answered once; what needs a token, a limit or a failure is tried elsewhere.
for pattern, methods in API["paths"].items():
    for method, described in methods.items():
        for code in described["responses"]:
            if code not in ("401", "403", "413", "429", "503"):
                check((pattern, method, code) in answered, f"{method} {pattern} was never answered with {code}")
print("ok")
