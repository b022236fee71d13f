# SPDX-License-Identifier: Apache-2.0
"""Uses the dashboard of a hive in a real Chromium, over its DevTools protocol, for hive-web.sh: hive-web.py URL BUILD RACE [SHOTS]

With SHOTS, a directory, screenshots are written there: each view in light, dark and on a narrow screen.
"""
import base64
import json
import os
import subprocess
import sys
import tempfile
import time

URL, BUILD, RACE = sys.argv[1:4]
SHOTS = sys.argv[4] if len(sys.argv) > 4 else None
LIMIT_S = 120


def check(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


class Browser:
    """Messages are JSON with a NUL behind each, on the descriptors 3 and 4 of the browser."""

    def __init__(self, profile):
        (inner_in, self.out), (self.into, inner_out) = os.pipe(), os.pipe()
        keep = [os.dup(inner_in), os.dup(inner_out)]

        def plumb():
            os.dup2(keep[0], 3)
            os.dup2(keep[1], 4)
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", "--disable-sync", "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=plumb, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for fd in [inner_in, inner_out] + keep:
            os.close(fd)
        self.buffer, self.number, self.session, self.problems = b"", 0, None, []

    def receive(self):
        while b"\0" not in self.buffer:
            data = os.read(self.into, 1 << 20)
            check(data, "the browser ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.problems.append(json.dumps(answer["params"])[:400])
            if answer.get("id") == self.number:
                check("error" not in answer, f"{method}: {answer.get('error')}")
                return answer["result"]

    def open(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def js(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        check("exceptionDetails" not in result, f"{expression}: {json.dumps(result.get('exceptionDetails'))[:400]}")
        return result["result"].get("value")

    def is_true(self, expression):
        """While a page is being loaded there may be nothing to ask."""
        result = self.call("Runtime.evaluate", expression=f"Boolean({expression})", returnByValue=True)
        return result["result"].get("value") is True

    def wait(self, expression, what):
        end = time.monotonic() + LIMIT_S
        while not self.is_true(expression):
            check(time.monotonic() < end, f"{what}; the page shows: {self.js('document.body.innerText')[:600]}")
            time.sleep(0.05)

    def key(self, key):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key if len(key) == 1 else "\r" if key == "Enter" else "")
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def shot(self, name):
        if SHOTS:
            data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)["data"]
            with open(os.path.join(SHOTS, name + ".png"), "wb") as file:
                file.write(base64.b64decode(data))

    def look(self, dark, width):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)


def no_overflow(b, where):
    check(b.js("document.documentElement.scrollWidth <= innerWidth"), f"{where} is wider than the screen")


def looks(b, name):
    colours = set()
    for form, dark, width in (("light", False, 1200), ("dark", True, 1200), ("narrow", False, 360)):
        b.look(dark, width)
        no_overflow(b, f"{name}, {form},")
        colours.add(b.js("getComputedStyle(document.body).backgroundColor"))
        b.shot(f"{name}-{form}")
    check(len(colours) == 2, f"{name}: dark looks like light")
    b.look(False, 1200)


def use(b):
    b.open()
    b.look(False, 1200)
    b.call("Page.navigate", url=URL)
    b.wait("document.querySelector('article.card h2')?.innerText === 'bank'", "no program")
    looks(b, "programs")

    # By keys alone: into the program, through its races, into one of them, and back.
    b.key("Enter")
    b.wait(f"location.hash === '#/b/{BUILD}' && document.querySelectorAll('tr[data-go]').length === 4", "no races")
    check(b.js("document.querySelector('tr[data-go] .pill').innerText") == "true race", "the true race is not the first")
    check("crash ×1" in b.js("document.querySelector('tr[data-go]').innerText"), "no consequence")
    check(b.js("document.querySelectorAll('svg.trend polygon').length") == 2, "no trend")
    looks(b, "races")
    b.key("2")
    b.wait("document.querySelectorAll('tr[data-go]').length === 1", "the filter does not filter")
    b.key("1")
    b.key("/")
    check(b.js("document.activeElement.id") == "search", "no search by key")
    for c in "fee zz":
        b.key(c)
    b.wait("document.querySelectorAll('tr[data-go]').length === 0", "the search finds what is not there")
    b.key("Escape")
    b.js("document.getElementById('search').value = ''; document.getElementById('search').dispatchEvent(new Event('input'))")
    b.key("j")
    b.key("k")
    check(b.js("document.querySelectorAll('tr.sel').length") == 1, "no row is marked")
    b.js("document.activeElement.blur()")
    b.key("Enter")
    b.wait(f"location.hash === '#/r/{BUILD}/{RACE}' && document.querySelectorAll('pre').length >= 4", "no race")
    text = b.js("document.body.innerText")
    for word in ("First access", "Second access", "bank.c:72", "run_teller()", "happens-before 2", "spec-violated: crash", "seen in one order", "raddle classify --race bank.c:72,bank.c:72",
                 "raddle replay race.json -- ./bank", "00000000"):
        check(word in text, f"the race does not say '{word}': {text}")
    looks(b, "race")

    # A command is copied.
    b.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"], origin=URL)
    b.js("document.querySelector('.copy button').focus()")
    b.js("document.querySelector('.copy button').click()")
    b.wait("document.querySelector('.copy button').textContent !== 'Copy'", "nothing was copied")
    b.key("u")
    b.wait(f"location.hash === '#/b/{BUILD}'", "no way up")
    b.key("?")
    check(b.js("document.getElementById('keys').open"), "no help")
    b.js("document.getElementById('keys').close()")

    # The theme can be chosen, and stays.
    b.key("t")
    b.key("t")
    check(b.js("document.documentElement.dataset.theme") == "dark", "the theme cannot be chosen")
    b.call("Page.reload")
    b.wait("document.documentElement.dataset.theme === 'dark' && document.querySelectorAll('tr[data-go]').length === 4", "the theme is forgotten")

    # What is not there is said, and nothing comes from elsewhere.
    b.js("location.hash = '#/b/00000000'")
    b.wait("document.body.innerText.includes('not known')", "a build that is not there")
    outside = b.js("performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith(location.origin))")
    check(outside == [], f"requests to elsewhere: {outside}")
    problems = [p for p in b.problems if "404" not in p]
    check(not problems, f"the page complains: {problems}")


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
    browser = Browser(directory)
    try:
        use(browser)
        print("ok")
    finally:
        browser.process.kill()
        browser.process.wait()
