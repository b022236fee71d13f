# SPDX-License-Identifier: Apache-2.0
"""Code that the benchmarks share: toolchains, the programs and how they are built, their inputs,
and the measurement of a command (CPU time, wall time, memory).

Everything is built and run in one scratch directory (RADDLE_BENCH_DIR, by default build/bench) and
kept there, so that a second run only measures.  Sources of Debian packages are fetched with a
private apt configuration.  If that fails, the directory with the package's name below
RADDLE_BENCH_SRC is used.  A program whose source is not available is left out with a message."""

import concurrent.futures
import ctypes
import glob
import hashlib
import math
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

# Every benchmark records its figures: figure(AREA, NAME, MEASURED, unit, goal, peer).
from resultlib import record as figure

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SCRATCH = os.environ.get("RADDLE_BENCH_DIR", os.path.join(ROOT, "build", "bench"))
RADDLE = os.environ.get("RADDLE", os.path.join(ROOT, "build", "raddle"))
CACHE = os.path.join(SCRATCH, "cache")
CLANG = "clang-19"
CLANGXX = "clang++-19"
JOBS = os.cpu_count() or 2
PR_SET_CHILD_SUBREAPER = 36


def say(*words):
    print(*words, flush=True)


def fail(message):
    sys.exit("bench: " + message)


def run(argv, **options):
    """Runs a command that must succeed, and returns its output.  If it fails, the output is
    shown."""
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if done.returncode:
        sys.stderr.write(done.stdout.decode(errors="replace")[-4000:])
        raise RuntimeError("%s: exit status %d" % (" ".join(argv)[:200], done.returncode))
    return done.stdout


def geomean(values):
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


# ---------------------------------------------------------------- sources

def apt_environment():
    """Makes a private apt configuration with deb-src lines, so that the machine's own is not
    changed.  Returns the environment in which apt uses it."""
    top = os.path.join(SCRATCH, "apt")
    conf = os.path.join(top, "conf")
    os.makedirs(os.path.join(top, "lists", "partial"), exist_ok=True)
    os.makedirs(os.path.join(top, "cache", "archives", "partial"), exist_ok=True)
    with open(os.path.join(top, "sources.list"), "w") as f:
        f.write("deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
                "http://deb.debian.org/debian bookworm main\n")
    with open(conf, "w") as f:
        f.write('Dir::Etc::SourceList "%s/sources.list";\nDir::Etc::SourceParts "-";\n'
                'Dir::State::Lists "%s/lists";\nDir::Cache "%s/cache";\n'
                'APT::Sandbox::User "root";\n' % (top, top, top))
    environment = dict(os.environ, APT_CONFIG=conf)
    if not glob.glob(os.path.join(top, "lists", "*Sources*")):
        run(["apt-get", "-qq", "update"], env=environment)
    return environment


def unpacked(package):
    found = [d for d in glob.glob(os.path.join(SCRATCH, "src", package + "-*")) if os.path.isdir(d)]
    return found[0] if found else None


def source(package):
    """Returns the source tree of a Debian package, with Debian's patches if they are available."""
    tree = unpacked(package)
    if tree:
        return tree
    os.makedirs(os.path.join(SCRATCH, "src"), exist_ok=True)
    try:
        run(["apt-get", "-qq", "source", package], cwd=os.path.join(SCRATCH, "src"),
            env=apt_environment())
    except (RuntimeError, OSError):
        given = os.path.join(os.environ.get("RADDLE_BENCH_SRC", "/nonexistent"), package)
        if os.path.isdir(given):
            shutil.copytree(given, os.path.join(SCRATCH, "src", package + "-given"))
        elif not unpack_upstream(package):
            raise RuntimeError("no source of %s: apt-get source failed and RADDLE_BENCH_SRC "
                               "has no directory %s" % (package, package))
    return unpacked(package)


def unpack_upstream(package):
    """If the mirror no longer has Debian's patches, unpacks the upstream source that apt-get
    fetched."""
    archives = glob.glob(os.path.join(SCRATCH, "src", package + "_*.orig.tar.*[a-z0-9]"))
    archives = [a for a in archives if not a.endswith(".asc")]
    if len(archives) != 1:
        return None
    tree = os.path.join(SCRATCH, "src", package + "-upstream")
    os.makedirs(tree)
    run(["tar", "-xf", archives[0], "--strip-components=1", "-C", tree])
    say("%s: without Debian's patches, which the mirror does not have" % package)
    return tree


# ---------------------------------------------------------------- toolchains

class Toolchain:
    def __init__(self, name, cc, cxx, flags=(), link=()):
        self.name, self.cc, self.cxx = name, cc, cxx
        self.flags, self.link = list(flags), list(link)


NATIVE = Toolchain("native", [CLANG], [CLANGXX])
TSAN = Toolchain("tsan", [CLANG], [CLANGXX], ["-fsanitize=thread"], ["-fsanitize=thread"])
COUNT = Toolchain("count", [CLANG], [CLANGXX], ["-fsanitize=thread"],
                  [os.path.join(SCRATCH, "count.o")])
RADDLE_CC = Toolchain("raddle", [RADDLE, "cc"], [RADDLE, "c++"])


def compile_unit(toolchain, src, out, flags, level="-O2"):
    compiler = toolchain.cxx if src.endswith(".cpp") else toolchain.cc
    run(compiler + [level, "-g"] + toolchain.flags + flags + ["-c", "-o", out, src])
    return out


# ---------------------------------------------------------------- programs

class Program:
    """A program: `sources()` returns [(file, flags)], `libs` are the libraries to link with."""

    def __init__(self, name, sources, libs=(), cxx=False):
        self.name, self.sources, self.libs, self.cxx = name, sources, list(libs), cxx

    def path(self, toolchain):
        return os.path.join(SCRATCH, toolchain.name, self.name)

    def build(self, toolchain, force=False, jobs=JOBS):
        out = self.path(toolchain)
        if os.path.exists(out) and not force:
            return out
        objects_dir = out + ".o"
        shutil.rmtree(objects_dir, ignore_errors=True)
        os.makedirs(objects_dir)
        units = self.sources()
        objects = [os.path.join(objects_dir, "%d-%s.o" % (i, os.path.basename(src)))
                   for i, (src, _) in enumerate(units)]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            work = [pool.submit(compile_unit, toolchain, src, obj, flags)
                    for (src, flags), obj in zip(units, objects)]
            for w in work:
                w.result()
        run((toolchain.cxx if self.cxx else toolchain.cc) + ["-O2", "-g", "-o", out] + objects +
            toolchain.link + self.libs)
        return out


def kernel(path):
    name = os.path.splitext(os.path.basename(path))[0]
    return Program(name, lambda: [(path, [])], ["-lpthread", "-lm"], cxx=path.endswith(".cpp"))


def zlib_units():
    tree = source("zlib")
    names = ("adler32 compress crc32 deflate gzclose gzlib gzread gzwrite infback inffast inflate "
             "inftrees trees uncompr zutil").split()
    return [(os.path.join(tree, n + ".c"), ["-I" + tree, "-DHAVE_UNISTD_H", "-DHAVE_STDARG_H", "-w"])
            for n in names]


def pigz_units():
    zlib, tree = source("zlib"), source("pigz")
    zopfli = os.path.join(tree, "zopfli", "src", "zopfli")
    names = [os.path.join(tree, n) for n in ("pigz.c", "yarn.c", "try.c")]
    names += sorted(p for p in glob.glob(os.path.join(zopfli, "*.c"))
                    if os.path.basename(p) not in ("zopfli_bin.c", "zopfli_lib.c", "gzip_container.c",
                                                   "zlib_container.c"))
    return [(n, ["-I" + zlib, "-w"]) for n in names] + zlib_units()


def bzip2_units():
    tree = source("bzip2")
    names = "blocksort bzlib compress crctable decompress huffman randtable".split()
    return [(os.path.join(tree, n + ".c"), ["-D_FILE_OFFSET_BITS=64", "-w"]) for n in names]


def pbzip2_units():
    tree, bzip2 = source("pbzip2"), source("bzip2")
    flags = ["-I" + bzip2, "-D_LARGEFILE64_SOURCE=1", "-D_FILE_OFFSET_BITS=64", "-DUSE_STACKSIZE_CUSTOMIZATION",
             "-Wno-reserved-user-defined-literal", "-w"]
    names = ("pbzip2", "BZ2StreamScanner", "ErrorContext")
    return [(os.path.join(tree, n + ".cpp"), flags) for n in names] + bzip2_units()


def sqlite3_with(user):
    """The files of sqlite3 and one file that uses it.  shell.c is made together with sqlite3.c."""
    tree = source("sqlite3")
    if not os.path.exists(os.path.join(tree, "shell.c")):
        run(["./configure", "--disable-tcl", "CC=" + CLANG], cwd=tree)
        run(["make", "sqlite3.c", "shell.c"], cwd=tree)
    return [(os.path.join(tree, "sqlite3.c"), ["-DSQLITE_THREADSAFE=1", "-w"]),
            (os.path.join(tree, user), ["-I" + tree, "-w"])]


def redis_units():
    """The files of redis without jemalloc: libc's allocator is used, as under ThreadSanitizer."""
    tree = source("redis")
    src, deps = os.path.join(tree, "src"), os.path.join(tree, "deps")
    run(["sh", "mkreleasehdr.sh"], cwd=src)
    with open(os.path.join(src, "Makefile")) as f:
        line = next(l for l in f if l.startswith("REDIS_SERVER_OBJ="))
    names = [os.path.join(src, o[:-2] + ".c") for o in line.split("=", 1)[1].split()]
    names += [n for n in sorted(glob.glob(os.path.join(deps, "lua", "src", "*.c")))
              if os.path.basename(n) not in ("lua.c", "luac.c", "print.c")]
    names += [os.path.join(deps, "hiredis", n + ".c") for n in "alloc async hiredis net read sds sockcompat".split()]
    names += [os.path.join(deps, "hdr_histogram", "hdr_histogram.c")]
    flags = ["-I" + os.path.join(deps, d) for d in ("hiredis", "lua/src", "hdr_histogram")]
    flags += ["-DUSE_MALLOC=libc", "-DREDIS_STATIC=", "-DLUA_ANSI", "-DENABLE_CJSON_GLOBAL", "-D_GNU_SOURCE",
              "-DHDR_MALLOC_INCLUDE=\"hdr_redis_malloc.h\"", "-w"]
    return [(n, flags) for n in names]


def memcached_units():
    tree = source("memcached")
    if not os.path.exists(os.path.join(tree, "config.h")):
        run(["./configure", "CC=" + CLANG], cwd=tree)
    names = ("memcached hash jenkins_hash murmur3_hash slabs items assoc thread daemon stats_prefix util "
             "cache bipbuffer base64 logger crawler itoa_ljust slab_automove authfile restart proto_text "
             "proto_bin extstore crc32c storage slab_automove_extstore").split()
    return [(os.path.join(tree, n + ".c"), ["-I" + tree, "-DHAVE_CONFIG_H", "-DNDEBUG", "-w"]) for n in names]


KERNELS = [kernel(p) for p in sorted(glob.glob(os.path.join(HERE, "kernels", "*.c")) +
                                     glob.glob(os.path.join(HERE, "kernels", "*.cpp")))]
PIGZ = Program("pigz", pigz_units, ["-lpthread", "-lm"])
PBZIP2 = Program("pbzip2", pbzip2_units, ["-lpthread"], cxx=True)
SQLITE3 = Program("sqlite3", lambda: sqlite3_with("shell.c"), ["-lpthread", "-ldl", "-lm"])
SQLITE_THREADS = Program("sqlite-threads", lambda: sqlite3_with(os.path.join(HERE, "sqlite-threads.c")),
                         ["-lpthread", "-ldl", "-lm"])
REDIS = Program("redis", redis_units, ["-lpthread", "-ldl", "-lm"])
MEMCACHED = Program("memcached", memcached_units, ["-levent", "-lpthread"])
WEB = Program("web", lambda: [(os.path.join(HERE, "web.c"), [])], ["-lpthread"])
PACKAGES = [PIGZ, PBZIP2, SQLITE3, MEMCACHED]


def build_helpers():
    """Builds the load generator and the runtime that counts accesses (count.c)."""
    os.makedirs(SCRATCH, exist_ok=True)
    run([CLANG, "-O2", "-o", os.path.join(SCRATCH, "loadgen"), os.path.join(HERE, "loadgen.c"), "-lpthread"])
    run([CLANG, "-O2", "-c", "-o", os.path.join(SCRATCH, "count.o"), os.path.join(HERE, "count.c")])


# ---------------------------------------------------------------- inputs

def text_file(name, size):
    """Makes a file of compressible text with some noise, the same on every machine."""
    path = os.path.join(SCRATCH, name)
    if not os.path.exists(path) or os.path.getsize(path) != size:
        rng = random.Random(7)
        words = ["".join(rng.choice("etaoinshrdlucmfwypvbgkjqxz") for _ in range(rng.randint(2, 10)))
                 for _ in range(4000)]
        out, n = [], 0
        while n < size:
            line = " ".join(words[min(int(rng.expovariate(0.004)), 3999)] for _ in range(12))
            line += " %d\n" % rng.randrange(1 << 30)
            out.append(line)
            n += len(line)
        with open(path, "w") as f:
            f.write("".join(out)[:size])
    return path


def sql_script():
    path = os.path.join(SCRATCH, "load.sql")
    with open(path, "w") as f:
        f.write("""CREATE TABLE t(id INTEGER PRIMARY KEY, a INT, b TEXT, c REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
INSERT INTO t SELECT i, (i * 7919) % 10007, 'row ' || ((i * 104729) % 65537), i / 7.0 FROM n;
CREATE INDEX t_a ON t(a);
CREATE INDEX t_b ON t(b);
SELECT count(*), sum(a), max(b) FROM t;
SELECT a % 10 AS g, count(*), avg(c), group_concat(DISTINCT a % 7) FROM t GROUP BY g ORDER BY g;
SELECT x.id, y.b FROM t x JOIN t y ON x.a = y.id WHERE x.c BETWEEN 100 AND 900 ORDER BY y.b LIMIT 20;
UPDATE t SET b = b || '-' || a WHERE a % 3 = 0;
DELETE FROM t WHERE id % 11 = 0;
SELECT count(*), sum(length(b)) FROM t WHERE b LIKE '%9-%';
SELECT a, b FROM t WHERE b GLOB 'row 1*' ORDER BY c DESC, b LIMIT 25;
WITH RECURSIVE f(i, x) AS (SELECT 1, 1 UNION ALL SELECT i + 1, (x * 1103515245 + 12345) % 2147483648
 FROM f WHERE i < 150000) SELECT sum(x), count(DISTINCT x % 1000) FROM f;
PRAGMA integrity_check;
""")
    return path


# ---------------------------------------------------------------- measuring

class Measure:
    def __init__(self, cpu, wall, status, output):
        self.cpu, self.wall, self.status, self.output = cpu, wall, status, output


def become_subreaper():
    """Makes orphans (a daemon, a collector) our children, so that their CPU time counts too."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children_cpu():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def reap_orphans():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def digest(path):
    h = hashlib.sha1()
    with open(path, "rb") as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            h.update(block)
    return h.hexdigest()


def descendants(pid):
    found, todo = [], [pid]
    while todo:
        p = todo.pop()
        found.append(p)
        try:
            for tid in os.listdir("/proc/%d/task" % p):
                with open("/proc/%d/task/%s/children" % (p, tid)) as f:
                    todo += map(int, f.read().split())
        except OSError:
            pass
    return found


def resident(pid):
    """Returns (RSS, PSS) in KiB.  PSS counts a page shared by n processes as 1/n page."""
    rss = pss = 0
    try:
        with open("/proc/%d/smaps_rollup" % pid) as f:
            for line in f:
                if line.startswith("Rss:"):
                    rss = int(line.split()[1])
                elif line.startswith("Pss:"):
                    pss = int(line.split()[1])
    except OSError:
        pass
    return rss, pss


class MemoryWatch(threading.Thread):
    """Samples the memory of a process and all its descendants until stopped."""

    def __init__(self, pid, interval=0.01):
        super().__init__(daemon=True)
        self.pid, self.interval, self.stop, self.rss, self.pss = pid, interval, threading.Event(), 0, 0

    def run(self):
        while not self.stop.wait(self.interval):
            samples = [resident(p) for p in descendants(self.pid)]
            self.rss = max(self.rss, sum(s[0] for s in samples))
            self.pss = max(self.pss, sum(s[1] for s in samples))


def measure(argv, stdin=None, env=None, during=None, memory=False, timeout=300, cwd=None):
    """Runs argv with its output going to a file.  `during(process)` may load it with requests and
    returns CPU seconds to subtract.  Returns a Measure, and (rss, pss) in MiB too if `memory`."""
    out = os.path.join(SCRATCH, "output")
    before = children_cpu()
    start = time.monotonic()
    watch = None
    with open(out, "wb") as f, open(stdin or os.devnull, "rb") as i:
        p = subprocess.Popen(argv, stdin=i, stdout=f, stderr=subprocess.DEVNULL,
                             env=dict(os.environ, **(env or {})), cwd=cwd)
        if memory:
            watch = MemoryWatch(p.pid)
            watch.start()
        extra = during(p) if during else 0.0
        try:
            status = p.wait(timeout)
        except subprocess.TimeoutExpired:
            p.kill()
            status = p.wait()
    wall = time.monotonic() - start
    reap_orphans()
    result = Measure(children_cpu() - before - extra, wall, status, digest(out))
    if not memory:
        return result
    watch.stop.set()
    watch.join()
    return result, (watch.rss / 1024, watch.pss / 1024)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for_server(process, port, limit=180):
    """Waits until the port accepts connections.  Under valgrind on a busy machine this takes
    long."""
    end = time.monotonic() + limit
    while process.poll() is None and time.monotonic() < end:
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)


def drive_server(protocol, port, requests, connections=8):
    """Returns a `during` function that loads the server and returns the load generator's CPU
    time."""
    def drive(process):
        wait_for_server(process, port)
        before = children_cpu()
        subprocess.run([os.path.join(SCRATCH, "loadgen"), protocol, str(port), str(connections), str(requests)], check=True,
                       timeout=300)
        return children_cpu() - before
    return drive


def machine():
    with open("/proc/cpuinfo") as f:
        model = next((l.split(":", 1)[1].strip() for l in f if l.startswith("model name")), "?")
    return "%s, %d CPUs, Linux %s, load %.1f, %s" % (
        model, JOBS, os.uname().release, os.getloadavg()[0], time.strftime("%Y-%m-%d"))


def trace_bytes(directory):
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(directory) for f in files)
