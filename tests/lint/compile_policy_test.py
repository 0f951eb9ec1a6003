"""seccomp/compile: what it refuses, and that its outputs say what the policy says."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["INTRAY_SOURCE_ROOT"])
COMPILE = ROOT / "seccomp" / "compile"


def run(*arguments):
    return subprocess.run([sys.executable, COMPILE, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


class Refused(unittest.TestCase):
    def policy(self, text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "x.policy"
        path.write_text(text, encoding="utf-8")
        return path

    def refused(self, text, because):
        done = run("names", self.policy(text))
        self.assertNotEqual(done.returncode, 0, text)
        self.assertIn(because, done.stderr)

    def test_a_line_without_reason_or_evidence(self):
        self.refused("read\n", "three columns")
        self.refused("read | why\n", "three columns")
        self.refused("read | why | \n", "three columns")

    def test_the_evidence_of_our_own_lines_is_there(self):
        tests = {path.name.rsplit("_test.", 1)[0] for path in (ROOT / "tests").rglob("*_test.*")}
        seen = 0
        for policy in sorted((ROOT / "seccomp").glob("*.policy")):
            for line in policy.read_text(encoding="utf-8").splitlines():
                if line.startswith("#") or " | " not in line:
                    continue
                who, test = line.rsplit("|", 1)[1].rsplit(";", 1)
                seen += 1
                known = tests | ({"sanitizer build"} if policy.stem == "sanitizer" else set())
                self.assertTrue(who.strip() and test.strip() in known, "%s: %s" % (policy.name, line))
        self.assertGreater(seen, 50)

    def test_an_empty_policy(self):
        self.refused("# nothing\n", "no line allows anything")

    def test_unknown_constants_conditions_and_errnos(self):
        self.refused("read: arg0 == O_NONSENSE | why | test\n", "unknown constant")
        self.refused("read: arg6 == 1 | why | test\n", "not a condition")
        self.refused("read: arg0 != 1 | why | test\n", "not a condition")
        self.refused("read: arg0 == 1 && arg0 == 2 | why | test\n", "compared once")
        self.refused("read; return EWHAT | why | test\n", "unknown errno")

    def test_the_same_call_with_and_without_conditions(self):
        self.refused("read | why | test\nread: arg0 == 1 | why | test\n", "with and without conditions")

    def test_a_policy_that_includes_itself(self):
        self.refused("include x.policy\n", "includes itself")

    def test_the_line_is_named(self):
        self.refused("read | why | test\n\nwrite\n", "x.policy:3:")


class Outputs(unittest.TestCase):
    def test_profiles_allow_what_the_program_does_and_its_start(self):
        for role in ("save", "connector"):
            path = ROOT / "seccomp" / (role + ".policy")
            names = {line.split()[0] for line in run("names", path).stdout.splitlines() if line.split()[1] == "allow"}
            profile = json.loads(run("oci", path).stdout)
            allowed = {name for entry in profile["syscalls"] if entry["action"] == "SCMP_ACT_ALLOW" for name in entry["names"]}
            self.assertLessEqual(names, allowed)
            self.assertLessEqual({"execve", "seccomp", "landlock_restrict_self"}, allowed)
            self.assertNotIn("ptrace", allowed)
            units = run("systemd", path).stdout
            for name in names:
                self.assertRegex(units, r"[= ]%s( |\n)" % name)
            self.assertNotIn("ptrace", units)

    def test_a_condition_on_what_only_the_program_knows_is_not_in_a_profile(self):
        self.assertNotIn("@", run("oci", ROOT / "seccomp" / "save.policy").stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
