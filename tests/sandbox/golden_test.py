#!/usr/bin/python3
"""The committed views of the policies are those that the policies make: the list of calls, the filter as the kernel gets it (as
pseudo code), the container profile, the unit's lines. INTRAY_UPDATE_GOLDEN=1 writes them anew, for a person to read the difference.
"""
import json
import os
import re
import subprocess
import sys
import unittest

SOURCE = os.environ.get("SOURCE", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("BUILD", os.path.join(SOURCE, "build"))
SECCOMP = os.path.join(SOURCE, "seccomp")
EXPORT = os.environ.get("EXPORT_FILTER", os.path.join(BUILD, "tests", "sandbox", "export_filter"))
# libseccomp lays out the same rules in another tree from version to version.
LAID_OUT_BY = "2.5"
ROLES = ("save", "connector")


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def compiled(what, role):
    return output(sys.executable, os.path.join(SECCOMP, "compile"), what, os.path.join(SECCOMP, role + ".policy"))


class Golden(unittest.TestCase):
    maxDiff = None

    def hold(self, path, text):
        full = os.path.join(SOURCE, path)
        if os.environ.get("INTRAY_UPDATE_GOLDEN") == "1":
            with open(full, "w", encoding="utf-8") as file:
                file.write(text)
        with open(full, encoding="utf-8") as file:
            self.assertEqual(file.read(), text, path + " is not what the policy makes; INTRAY_UPDATE_GOLDEN=1 rewrites it")

    def test_the_calls_allowed(self):
        for role in ROLES:
            lines = sorted(compiled("names", role).splitlines())
            self.hold("tests/data/sandbox/%s.calls" % role, "\n".join(lines) + "\n")

    def test_the_filter_as_pseudo_code(self):
        version = output("pkg-config", "--modversion", "libseccomp").strip()
        if not version.startswith(LAID_OUT_BY + "."):
            self.skipTest("libseccomp %s lays out a filter otherwise than %s" % (version, LAID_OUT_BY))
        for role in ROLES:
            self.hold("seccomp/%s.pfc" % role, output(EXPORT, role))

    def test_the_container_profile(self):
        for role in ROLES:
            text = compiled("oci", role)
            profile = json.loads(text)
            allowed = {name for entry in profile["syscalls"] if entry["action"] == "SCMP_ACT_ALLOW" and "args" not in entry for name in entry["names"]}
            self.assertEqual(profile["defaultAction"], "SCMP_ACT_ERRNO")
            # A role's own calls and those of its start must be in it; what no start needs must not.
            for name in ("execve", "seccomp", "landlock_restrict_self", "exit_group"):
                self.assertIn(name, allowed)
            for name in ("ptrace", "bpf", "mount", "unshare", "setns", "io_uring_setup", "keyctl", "init_module", "kexec_load",
                         "process_vm_writev", "userfaultfd", "perf_event_open"):
                self.assertNotIn(name, allowed)
            self.hold("seccomp/%s.oci.json" % role, text)

    def test_the_unit_lines(self):
        for role in ROLES:
            text = compiled("systemd", role)
            self.assertIn("SystemCallArchitectures=native", text)
            calls = {word for line in text.splitlines() if line.startswith("SystemCallFilter=") for word in line.split("=", 1)[1].split()}
            own = {line.split()[0] for line in compiled("names", role).splitlines() if line.split()[1] == "allow"}
            self.assertLessEqual(own, calls)
            self.assertFalse(calls & {"ptrace", "bpf", "mount", "unshare"})
            self.hold("seccomp/%s.service.conf" % role, text)

    def test_every_line_says_why_and_what_shows_it(self):
        for name in ("executor", "connector", "sanitizer"):
            with open(os.path.join(SECCOMP, name + ".policy"), encoding="utf-8") as lines:
                for line in lines:
                    if line.strip() and not line.startswith(("#", "include ")):
                        self.assertEqual(len(re.split(r"\s\|\s", line)), 3, line)

    def test_a_policy_that_says_too_much_is_refused(self):
        folder = os.path.join(BUILD, "tests", "sandbox")
        for text, why in (("read | a | b\nread: arg0 == 3 | a | b\n", "with and without conditions"), ("read | a\n", "three columns"),
                          ("read: arg0 ~ 3 | a | b\n", "not a condition"), ("read: arg0 == NONSENSE | a | b\n", "unknown constant"),
                          ("read: arg0 == 1 && arg0 == 2 | a | b\n", "compared once"), ("read; return EPERM | a | b\n", "unknown errno"),
                          ("# nothing\n", "no line allows anything"), ("include bad.policy\n", "includes itself")):
            path = os.path.join(folder, "bad.policy")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            done = subprocess.run([sys.executable, os.path.join(SECCOMP, "compile"), "names", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertNotEqual(done.returncode, 0, text)
            self.assertIn(why, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
