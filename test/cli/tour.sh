# SPDX-License-Identifier: Apache-2.0
#
# The commands of doc/tour.md, and those of README.md about its examples, print what the page shows.
# A command is an indented line that begins with "$".  The lines of its block after it are its output;
# there "…" matches any text, and on a line of its own any number of lines.
set -u
cp "$ROOT"/examples/{tour,bank,rod}.c "$ROOT/test/prog/sketch/pbzip2.c" .
PATH=$BUILD:$PATH python3 - "$ROOT/doc/tour.md" "$ROOT/README.md" <<'EOF'
import re
import subprocess
import sys


def blocks(page):
    """The indented blocks of a page; blank lines in a block belong to it."""
    return re.findall(r"(?:^    .*\n(?:\n(?=    ))*)+", page, re.M)


def commands(page):
    """Pairs of a command and the lines of its output."""
    found = []
    for block in blocks(page):
        inside = False
        for line in block.splitlines():
            if line.startswith("    $ "):
                found.append((line[6:], []))
                inside = True
            elif inside:
                found[-1][1].append(line[4:])
    return found


def examples(page):
    """The commands of the README about its examples.  The counts in its campaign differ a little from
    run to run.  Its last commands are shown without output.  Which failure a sketch explains first is
    not the same in every run; sketch.sh tests what sketches say."""
    found = []
    for command, lines in commands("".join(b for b in blocks(page) if b.startswith("    $ raddle cc "))):
        lines = [l for l in lines if not re.match(r" *(BitFlip)? *(crash|hang|detected|sdc|masked) ", l)]
        if command.startswith("raddle sketch"):
            lines = []
        if re.match(r"raddle (campaign|compare|inject -o|sketch)", command):
            lines.append("…")
        found.append((command, lines))
    return found


def pattern(lines):
    text = ""
    for line in lines:
        if line == "…":
            text += r"(?:.*\n)*?"
        else:
            # Blanks next to "…" match any number of blanks, because columns may move.
            text += re.sub(r"(?:\\ )*…(?:\\ )*", r"[^\\n]*?", re.escape(line)) + r" *\n"
    return text


def show(lines):
    return "\n".join("    " + line for line in lines)


failed = 0
pairs = []
for name, extract in zip(sys.argv[1:], (commands, examples)):
    found = extract(open(name, encoding="utf-8").read())
    assert len(found) >= 4, "the page has no commands"
    pairs += found
for command, lines in pairs:
    # Reports go to standard error when the program has ended, so what it printed comes first.
    run = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    output = run.stdout + run.stderr
    # A thread that has to wait for a lock requests it first.  Whether it has to wait is a matter of
    # chance.
    output = re.sub(r".* mutex-request .*\n", "", output)
    if not re.fullmatch(pattern(lines), output):
        failed += 1
        print(f"$ {command}\nthe page says:\n{show(lines)}\nit prints:\n{show(output.splitlines())}")
print(f"{len(pairs)} commands, {failed} differ")
sys.exit(failed > 0)
EOF
