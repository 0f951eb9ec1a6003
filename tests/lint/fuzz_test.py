#!/usr/bin/env python3
"""fuzz_test.py FUZZ: the fuzz script counts, keeps what was found, and fails where a target did; the targets here are shell scripts."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve()

STATS = """echo '#7 NEW    cov: 42 ft: 9 corp: 2/3b' >&2
echo 'stat::number_of_executed_units: 1234' >&2
echo 'stat::new_units_added:          5' >&2
"""
KEEP = """for word; do case $word in -artifact_prefix=*) printf x >"${word#*=}crash-1" ;; esac; done
echo 'does not hold: a property' >&2
exit 77
"""


class Fuzz(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "tools" / "dev").mkdir(parents=True)
        shutil.copy(SCRIPT, self.root / "tools" / "dev" / "fuzz")
        self.programs = self.root / "build" / "tests" / "fuzz"
        self.programs.mkdir(parents=True)
        (self.root / "build" / "build.ninja").write_text("")

    def add(self, target, body):
        (self.root / "tests" / "fuzz" / "seeds" / target).mkdir(parents=True)
        program = self.programs / f"fuzz_{target}"
        program.write_text("#!/bin/sh\n" + body)
        program.chmod(0o755)
        with (self.root / "build" / "build.ninja").open("a") as ninja:
            ninja.write(f"build tests/fuzz/fuzz_{target}: phony\n")

    def run_fuzz(self, *args):
        result = subprocess.run([sys.executable, self.root / "tools" / "dev" / "fuzz", self.root / "build", "1", *args],
                                capture_output=True, text=True, check=False)
        return result.returncode, result.stdout + result.stderr

    def test_counts_of_each_target(self):
        self.add("good", STATS)
        status, output = self.run_fuzz()
        self.assertEqual(status, 0, output)
        self.assertIn("fuzz: good: 1234 runs, coverage 42, 5 new cases\n", output)
        self.assertTrue(output.endswith("1 passed, 0 failed, 0 skipped\n"), output)
        self.assertFalse((self.root / "tests" / "fuzz" / "found" / "good").exists())

    def test_a_finding_is_kept_and_fails(self):
        self.add("bad", STATS + KEEP)
        self.add("good", STATS)
        status, output = self.run_fuzz()
        self.assertEqual(status, 1, output)
        self.assertIn("FAILED with status 77: tests/fuzz/found/bad/crash-1", output)
        self.assertIn("does not hold: a property", output)
        self.assertTrue(output.endswith("1 passed, 1 failed, 0 skipped\n"), output)
        self.assertTrue((self.root / "tests" / "fuzz" / "found" / "bad" / "crash-1").exists())

    def test_a_target_that_ran_nothing_fails(self):
        self.add("idle", "exit 0\n")
        self.assertEqual(self.run_fuzz()[0], 1)

    def test_an_unknown_target_is_an_error(self):
        self.add("good", STATS)
        status, output = self.run_fuzz("god")
        self.assertEqual(status, 1)
        self.assertIn("no such target: god", output)


if __name__ == "__main__":
    unittest.main()
