# SPDX-License-Identifier: Apache-2.0
"""Programs by other authors: how each toolchain builds them, their loads, what ThreadSanitizer
reports in their runs, and which of its reports match a finding of Raddle.

A finding of ThreadSanitizer is a pair of source lines.  It counts as found by Raddle if Raddle has
a pair of accesses within two lines of it in the same files.  If optimisation lost a line, the same
function is enough."""

import json
import re

from benchlib import *

HOME = os.path.join(SCRATCH, "real")
NEAR = 2


# ---------------------------------------------------------------- sources

class Debian:
    def __init__(self, name):
        self.name = name

    def tree(self):
        return source(self.name)


class Tree:
    """A program that a shell command builds in a copy of a source tree.  The command's environment
    has CC, CXX, CFLAGS, CXXFLAGS, LDFLAGS, the toolchain's name (TOOLCHAIN), and the trees of other
    sources under the names in `others` (BZIP2)."""

    def __init__(self, name, origin, exe, command, **others):
        self.name, self.origin, self.exe, self.command, self.others = name, origin, exe, command, others

    def tree(self, toolchain):
        return os.path.join(HOME, toolchain.name, self.name)

    def path(self, toolchain):
        return os.path.join(self.tree(toolchain), self.exe)

    def build(self, toolchain, force=False):
        if os.path.exists(self.path(toolchain)) and not force:
            return
        tree = self.tree(toolchain)
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(self.origin.tree(), tree, symlinks=True)
        flags = " ".join(["-O2", "-g", "-w"] + toolchain.flags)
        environment = dict(os.environ, CC=" ".join(toolchain.cc), CXX=" ".join(toolchain.cxx), CFLAGS=flags,
                           CXXFLAGS=flags, LDFLAGS=" ".join(toolchain.link), TSAN_OPTIONS="exitcode=0",
                           TOOLCHAIN=toolchain.name, **{name: origin.tree() for name, origin in self.others.items()})
        run(["bash", "-ec", self.command], cwd=tree, env=environment)


class Built:
    """A program that the user has already built with each toolchain (DIR/TOOLCHAIN/PROGRAM)."""

    def __init__(self, path):
        self.directory, self.exe = os.path.split(os.path.abspath(path))

    def path(self, toolchain):
        return os.path.join(self.directory, toolchain.name, self.exe)

    def build(self, toolchain, force=False):
        if not os.access(self.path(toolchain), os.X_OK):
            raise RuntimeError(self.path(toolchain) + " is missing")


# ---------------------------------------------------------------- loads

class Load:
    """A program with its input.  `prepare(directory)` makes the input files.  `setup` is a shell
    command that `raddle check` runs before each run.  `drive` is a shell command that sends
    requests to a server; the server gets SIGTERM afterwards unless it ends by itself.  `files`
    (name: text) are written to the directory.  {port} in `drive`, in the arguments and in `files`
    stands for a free port."""

    def __init__(self, name, program, args, prepare=None, **how):
        self.name, self.program, self.args, self.prepare = name, program, args, prepare
        self.setup, self.drive, self.stdin = how.get("setup"), how.get("drive"), how.get("stdin")
        self.files = how.get("files", {})
        self.home = os.path.join(HOME, name)
        self.directory = os.path.join(self.home, "run")

    def ready(self):
        """Empties the run's directory and writes its files; returns the arguments and the command
        of `drive`, with their port."""
        shutil.rmtree(self.directory, ignore_errors=True)
        os.makedirs(self.directory)
        if self.prepare:
            self.prepare(self.directory)
        if self.stdin:
            with open(os.path.join(self.directory, "stdin"), "w") as f:
                f.write(self.stdin)
        port = str(free_port())
        for name, content in self.files.items():
            with open(os.path.join(self.directory, name), "w") as f:
                f.write(content.replace("{port}", port))
        drive = self.drive.replace("{port}", port) if self.drive else None
        return [a.replace("{port}", port) for a in self.args], drive

    def input(self):
        return os.path.join(self.directory, "stdin") if self.stdin else os.devnull


def driver(drive):
    """Returns a `during` function for measure() that runs the shell command `drive`, or None if
    there is no command.  If the process does not end by itself, its innermost descendant gets
    SIGTERM; under `raddle record` that is the program."""
    def during(process):
        before = children_cpu()
        subprocess.run(["sh", "-c", drive], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
        spent = children_cpu() - before
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            os.kill(descendants(process.pid)[-1], signal.SIGTERM)
        return spent

    return during if drive else None


def plain_run(load, toolchain, options):
    args, drive = load.ready()
    return measure([load.program.path(toolchain)] + args, stdin=load.input(), env=options, during=driver(drive),
                   cwd=load.directory)


# ---------------------------------------------------------------- applications

HAPROXY = """global
    nbthread 4
    maxconn 200
defaults
    mode http
    timeout client 30s
    timeout server 30s
    timeout connect 30s
frontend front
    bind 127.0.0.1:{port}
    default_backend work
backend work
    balance roundrobin
    stick-table type string len 32 size 1k store http_req_cnt
    http-request track-sc0 path
    server one unix@back.sock
    server two unix@back.sock
frontend back
    bind unix@back.sock
    http-request return status 200 content-type text/plain string "LAST\\n" if { path /last }
    http-request return status 200 content-type text/plain string "some text\\n"
"""

X264 = ('./configure --disable-asm --disable-opencl --disable-avs --disable-swscale --disable-lavf --disable-ffms --disable-gpac '
        '--disable-lsmash --extra-cflags="$CFLAGS" --extra-ldflags="$LDFLAGS" && make x264')
# ThreadSanitizer does not see inline assembler.  With haproxy's locks for x86 it makes 389 to 400
# reports; with haproxy's locks for other machines, which are the same in C, it makes 159.  So the
# build for ThreadSanitizer uses the latter.  The build for Raddle is not changed.
HAPROXY_BUILD = ('if [ $TOOLCHAIN = tsan ]; then sed -i "s/^#if defined(__i386__).*/#if 0/" include/import/atomic-ops.h; '
                 'CFLAGS="$CFLAGS -U__GCC_ASM_FLAG_OUTPUTS__"; fi; '
                 'make TARGET=linux-glibc CC="$CC" CFLAGS="$CFLAGS -fwrapv" LDFLAGS="$LDFLAGS" haproxy')
WIDTH, HEIGHT = 352, 288
UGREP = './configure --without-pcre2 --without-boost-regex --without-bzlib --without-lzma --disable-7zip && make -C lib && make -C src ugrep'


def film(frames):
    """Returns a function that makes a film of bars that move before a noisy background, the same on
    every machine."""
    def prepare(where):
        rng = random.Random(7)
        ground = bytes(rng.randrange(60, 80) for _ in range(WIDTH * HEIGHT))
        with open(os.path.join(where, "in.yuv"), "wb") as f:
            for n in range(frames):
                luma = bytearray(ground)
                for y in range(HEIGHT):
                    left = y * WIDTH + (n * 9 + y // 4) % (WIDTH - 40)
                    luma[left:left + 40] = bytes(range(120, 200, 2))
                f.write(luma + bytes([128] * (WIDTH * HEIGHT // 2)))
    return prepare


def text(size):
    return lambda where: shutil.copy(text_file("text-%d" % size, size), os.path.join(where, "in"))


def loadgen(protocol, requests):
    return os.path.join(SCRATCH, "loadgen") + " %s {port} 8 %d" % (protocol, requests)


def haproxy(requests):
    return Load("haproxy", Tree("haproxy", Debian("haproxy"), "haproxy", HAPROXY_BUILD),
                ["-db", "-f", "haproxy.cfg"], files={"haproxy.cfg": HAPROXY}, drive=loadgen("http", requests),
                setup="rm -f back.sock")


def x264(frames):
    return Load("x264", Tree("x264", Debian("x264"), "x264", X264),
                ["--input-res", "%dx%d" % (WIDTH, HEIGHT), "--frames", str(frames), "--threads", "4", "-o", "/dev/null",
                 "in.yuv"], film(frames))


def ugrep(files, size):
    """Searches copies of a text for a pattern; the results are sorted by the names of the files."""
    def prepare(where):
        for n in range(files):
            shutil.copy(text_file("text-%d" % size, size), os.path.join(where, "in-%03d" % n))
    return Load("ugrep", Tree("ugrep", Debian("ugrep"), "src/ugrep", UGREP),
                ["-J4", "--sort=name", "-r", "-c", "[a-m]+o[n-z]+ [0-9]*77", "."], prepare)


# ---------------------------------------------------------------- ThreadSanitizer

FUNCTIONS = {}  # the function of each side of a pair, by "file:line"


def tsan_side(block):
    """Returns file:line of the innermost frame in the program's own code; file:function if the line
    was lost by optimisation."""
    lost = re.search(r"#0 (\S+?)(?:\(.*?\))? (\S+\.(?:c|cc|cpp|h)) \(", block)
    if lost:
        return "%s:%s" % (os.path.basename(lost.group(2)), lost.group(1))
    frames = re.findall(r"#\d+ (.*?) (\S+?):(\d+)(?::\d+)? \(", block)
    own = [f for f in frames if "/compiler-rt/" not in f[1] and "/include/c++" not in f[1]] or frames
    if not own:
        return "?"
    side = "%s:%s" % (os.path.basename(own[0][1]), own[0][2])
    FUNCTIONS[side] = own[0][0].split("(")[0]
    return side


def tsan_pairs(log):
    """Returns the set of (kind, side, side) of a log.  Reports that are neither a race nor a
    deadlock are left out."""
    found = set()
    for report in log.split("=================="):
        head = re.search(r"WARNING: ThreadSanitizer: (.*?) \(pid", report)
        if head and "data race" in head.group(1):
            blocks = [b for b in report.split("\n\n") if re.search(r"^\s+.*\b(read|write) of size \d+", b, re.M | re.I)]
            found.add(("race",) + tuple(sorted(tsan_side(b) for b in blocks[:2])))
        elif head and "lock-order" in head.group(1):
            sides = re.findall(r"#\d+ .*? (\S+?):(\d+)(?::\d+)? \(", report)
            found.add(("deadlock",) + tuple(sorted({"%s:%s" % (os.path.basename(f), l) for f, l in sides})))
    return found


class Sanitised:
    """Results of runs with ThreadSanitizer: the pairs of the `first` run, those `found` in all
    runs, the CPU time of all runs, and their number."""

    def __init__(self):
        self.first, self.found, self.cpu, self.runs = set(), set(), 0.0, 0


def tsan_runs(load, runs):
    log = os.path.join(load.home, "tsan.log")
    all_runs = Sanitised()
    for i in range(runs):
        for old in glob.glob(log + ".*"):
            os.unlink(old)
        done = plain_run(load, TSAN, {"TSAN_OPTIONS": "exitcode=0 log_path=" + log})
        pairs = set()
        for name in glob.glob(log + ".*"):
            with open(name, errors="replace") as f:
                pairs |= tsan_pairs(f.read())
        if i == 0:
            all_runs.first = pairs
        all_runs.found |= pairs
        all_runs.cpu += done.cpu
        all_runs.runs += 1
    with open(os.path.join(load.home, "tsan.json"), "w") as f:
        json.dump({"first": sorted(all_runs.first), "all": sorted(all_runs.found), "functions": FUNCTIONS}, f, indent=1)
    return all_runs


# ---------------------------------------------------------------- comparison

def places(finding):
    return ["%s:%d" % (os.path.basename(p["file"] or "?"), p["line"]) for p in finding["accesses"] or finding["cycle"]]


def at(side, access):
    name, line = side.rsplit(":", 1)
    if os.path.basename(access["file"] or "?") != name:
        return False
    if line.isdigit():
        return abs(int(line) - access["line"]) <= NEAR
    return (access["function"] or "").split("(")[0] == line


def same(pair, finding):
    if pair[0] != finding["kind"]:
        return False
    if pair[0] == "deadlock":
        return set(places(finding)) <= set(pair[1:])
    if len(pair) != 3:
        return False
    a, b = finding["accesses"]
    return (at(pair[1], a) and at(pair[2], b)) or (at(pair[1], b) and at(pair[2], a))


def moved(pair, finding, functions):
    """Whether one side of the pair is at an access of the finding, and the other side is in the
    same function as the other access, but at another line.  The optimiser may merge stores, and
    then the store has the line of another one."""
    def inside(side, access):
        return (access["function"] or "").split("(")[0] == functions.get(side) and \
            os.path.basename(access["file"] or "?") == side.rsplit(":", 1)[0]

    if pair[0] != finding["kind"] or len(pair) != 3:
        return False
    a, b = finding["accesses"]
    return any(at(pair[1], x) and inside(pair[2], y) or at(pair[2], x) and inside(pair[1], y) for x, y in ((a, b), (b, a)))
