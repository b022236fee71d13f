# SPDX-License-Identifier: Apache-2.0
"""Finds the rooms of src/, what their files include and what their objects define, for the checkers
in this folder.

Rooms lie on floors.  A floor is a folder of src/ that contains no C files directly.  A file is
named by its room, without the floor: rt/core/real.c.
"""
import collections
import glob
import os
import re
import subprocess

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.M)
# How many names of objects are passed on one command line, which has a limited length.
OBJECTS_AT_ONCE = 200


def sources(tree, *endings):
    """Returns the files below src/ with these endings, relative to the top of the tree."""
    found = (glob.glob(os.path.join(tree, "src/**/*." + ending), recursive=True) for ending in endings)
    return sorted(os.path.relpath(f, tree) for files in found for f in files)


class House:
    """Names files of src/ by their rooms; paths are relative to the top of the tree."""

    def __init__(self, paths):
        folders = {p.split("/")[1] for p in paths if p.startswith("src/") and p.count("/") > 1}
        self.floors = folders - {p.split("/")[1] for p in paths if re.fullmatch(r"src/[^/]+/[^/]+\.[ch]", p)}

    def name(self, path):
        """Returns rt/core/real.c for src/target/rt/core/real.c."""
        parts = path.split("/")[1:]
        return "/".join(parts[1:] if parts[0] in self.floors else parts)

    def room(self, path):
        return self.name(path).split("/")[0]


def users_of_headers(house, texts):
    """Returns, for each header, the files that include it, all named by their rooms.  `texts` has
    the text of each file by its path."""
    users = collections.defaultdict(set)
    for path, text in texts.items():
        for header in INCLUDE.findall(text):
            users[header].add(house.name(path))
    return users


def private_headers(house, texts):
    """Returns the headers that no other room includes, neither directly nor through another header.
    Contracts (src/contract/) are left out, because they are made for other rooms."""
    users = users_of_headers(house, texts)
    headers = {house.name(p) for p in texts if p.endswith(".h") and house.room(p) != "raddle"}

    def room(name):
        return name.split("/")[0]
    public = {h for h in headers if any(room(u) != room(h) for u in users[h])}
    grown = public
    while grown:
        grown = {h for h in headers - public if users[h] & grown}
        public |= grown
    return headers - public


def is_inside(header):
    """Whether the name of a header shows that it is private: by its end, or by a folder in the room."""
    return header.endswith("-int.h") or header.count("/") > 1


def symbols(objects):
    """Yields what nm prints for each symbol that is not static: object file, letter, name."""
    for start in range(0, len(objects), OBJECTS_AT_ONCE):
        out = subprocess.run(["nm", "-A", "-g", *objects[start:start + OBJECTS_AT_ONCE]],
                             text=True, capture_output=True, check=True).stdout
        for line in out.splitlines():
            file, rest = line.split(":", 1)
            *_, letter, name = rest.split()
            yield file, letter, name


def without_comments(text):
    """Returns the text with comments replaced by blanks, so that line numbers stay the same."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)
