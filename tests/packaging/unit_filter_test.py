"""The filter that the unit sets holds from exec on, so every call of start and work must be in it: traced, compared. BUILD is the build
folder; the harness of ../integration makes a site.
"""
import json
import os
import pathlib
import re
import subprocess
import unittest

from harness import IDS, SiteTest, program

BUILD = pathlib.Path(os.environ["BUILD"])
OPTIONS = json.loads((BUILD / "meson-info/intro-buildoptions.json").read_text())
SANITIZED = any(o["name"] == "b_sanitize" and o["value"] != "none" for o in OPTIONS)


@unittest.skipIf(SANITIZED, "sanitizers make calls of their own")
class UnitFilter(SiteTest):
    def test_every_call_of_a_run_is_let_through(self):
        commit = self.repo.notes(5)
        self.start_receiver()
        site = self.make_site()
        ids = site.submit_all(commit)
        trace = os.path.join(self.home, "trace")
        done = subprocess.run(["strace", "-f", "-o", trace, program("intray-save"), "--config", site.config, "--once"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.home, check=False,
                              env={"PATH": os.environ["PATH"], "NOTIFY_SOCKET": os.path.join(self.home, "nobody-listens")}, **IDS)
        if "PTRACE_TRACEME" in done.stdout:
            self.skipTest("strace may not trace here")
        self.assertEqual([site.outcome(i)[0] for i in ids], ["SUCCEEDED"] * 5, done.stdout[-2000:])
        # "unfinished" halves of a call are named once more; what only a probe of the self-test tries is killed, and was in the list or not.
        with open(trace, encoding="utf-8", errors="replace") as lines:
            made = set(re.findall(r"^\d+ +([a-z][a-z0-9_]*)\(", lines.read(), re.M))
        allowed = set()
        for line in (BUILD / "tools/systemd/50-system-calls.conf").read_text().splitlines():
            if line.startswith("SystemCallFilter="):
                allowed |= set(line.partition("=")[2].split())
        self.assertGreater(len(made), 60)
        self.assertEqual(made - allowed, set(), "add them to seccomp/startup.list")


if __name__ == "__main__":
    unittest.main(verbosity=2)
