# SPDX-License-Identifier: Apache-2.0
#
# The commands of doc/tour.md, and those of README.md about its examples, print what the page shows.
# A command is an indented line that begins with "$".  The indented lines after it are its output;
# there "…" matches any text, and on a line of its own any number of lines.
set -u
cp "$ROOT"/examples/{tour,bank,rod}.c "$ROOT/test/prog/sketch/pbzip2.c" .
# The counts in the README's campaign differ a little from run to run.  Its last commands are shown
# without output.  Which failure a sketch explains first is not the same in every run; sketch.sh
# tests what sketches say.
sed -n '/^    \$ raddle cc /,/^$/p' "$ROOT/README.md" |
	sed -E '/^    \$ raddle sketch/,/^$/{/^    \$/!d}' |
	sed -E '/^ *(BitFlip)? *(crash|hang|detected|sdc|masked) /d; /^    \$ raddle (campaign|compare|inject -o|sketch)/a\    …' >examples.md
PATH=$BUILD:$PATH python3 - "$ROOT/doc/tour.md" examples.md <<'EOF'
import re
import subprocess
import sys


def commands(page):
    """Pairs of a command and the lines of its output."""
    found, inside = [], False
    for line in page.splitlines():
        if line.startswith("    $ "):
            found.append((line[6:], []))
            inside = True
        elif inside and line.startswith("    "):
            found[-1][1].append(line[4:])
        else:
            inside = False
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
for name in sys.argv[1:]:
    found = commands(open(name, encoding="utf-8").read())
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
