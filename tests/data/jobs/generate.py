#!/usr/bin/python3
"""Writes the corpus of job files: valid/, invalid/ and index.tsv beside this file, the same bytes each time.

generate.py            writes it, and removes what no case makes any more
generate.py --check    says what differs, changes nothing, and ends with 1 if something does
"""
import os
import sys

import cases
import cases_fields
import cases_form
import cases_path

HERE = os.path.dirname(os.path.abspath(__file__))
HEAD = """\
# Job files and what becomes of them: see README.md. Made by generate.py.
# A site with the vault root %s, the extension %s, job.max_age 7 days and 5 minutes of skew.
# file\tkind\texpected\tclock\tobject_format\twhat
""" % (cases.VAULT_ROOT, cases.EXTENSION)


def all_cases():
    out = []
    for kind in cases.KINDS:
        some = cases.Cases(kind)
        cases_form.add(some)
        cases_fields.add(some)
        cases_path.add(some)
        cases_fields.add_valid(some)
        cases_path.add_valid(some)
        out += some.all
    return out


def files():
    """Every file's path below this folder, and its bytes."""
    out, index, seen = {}, [], {}
    for case in all_cases():
        path = "%s/%s.json" % ("valid" if case.expected == "OK" else "invalid", case.name)
        if path.lower() in map(str.lower, out):
            raise ValueError("two cases are called " + path)
        twin = seen.setdefault((case.data, case.kind, case.clock, case.object_format), path)
        if twin != path:
            raise ValueError("%s and %s are the same case" % (twin, path))
        out[path] = case.data
        index.append("\t".join((path, case.kind, case.expected, case.clock, case.object_format, case.what)))
    out["index.tsv"] = (HEAD + "".join(line + "\n" for line in sorted(index))).encode()
    return out


def present():
    out = {"index.tsv"} if os.path.exists(os.path.join(HERE, "index.tsv")) else set()
    for folder in ("valid", "invalid"):
        if os.path.isdir(os.path.join(HERE, folder)):
            out |= {"%s/%s" % (folder, name) for name in os.listdir(os.path.join(HERE, folder))}
    return out


def same(path, data):
    with open(os.path.join(HERE, path), "rb") as file:
        return file.read() == data


def differences():
    wanted, there = files(), present()
    return (["missing: " + p for p in sorted(set(wanted) - there)] + ["of no case: " + p for p in sorted(there - set(wanted))] +
            ["differs: " + p for p in sorted(set(wanted) & there) if not same(p, wanted[p])])


def write():
    wanted = files()
    for folder in ("valid", "invalid"):
        os.makedirs(os.path.join(HERE, folder), exist_ok=True)
    for path in present() - set(wanted):
        os.unlink(os.path.join(HERE, path))
    for path, data in wanted.items():
        with open(os.path.join(HERE, path), "wb") as file:
            file.write(data)


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        found = differences()
        print("\n".join(found) or "the corpus is what generate.py makes")
        sys.exit(1 if found else 0)
    write()
