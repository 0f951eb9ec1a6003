#!/usr/bin/python3
"""On a kernel without Landlock (without_landlock.cc answers for it): refused, unless the site says that it may be, and then said."""
import os
import re
import socket
import subprocess

from harness import IDS, SiteTest, main, program

WRAPPER = os.environ["INTRAY_WITHOUT_LANDLOCK"]
EX_SELF_TEST = 70


class WithoutLandlock(SiteTest):
    def run_without(self, error, *args):
        with open(os.path.join(self.home, "log"), "a+", encoding="utf-8") as log:
            done = subprocess.run([WRAPPER, error, program("intray-save"), "--config", self.site.config, *args], stdout=subprocess.PIPE, stderr=log, text=True,
                                  cwd=self.home, timeout=120, **IDS)
            log.seek(0)
            return done.returncode, done.stdout, log.read()

    def prepare(self, **settings):
        self.start_receiver()
        self.make_site(**settings)
        return self.site.submit_all(self.repo.notes(2))

    def test_it_is_refused_with_what_is_missing_and_what_would_allow_it(self):
        self.prepare()
        for error in ("ENOSYS", "EOPNOTSUPP"):
            code, _, log = self.run_without(error, "--once")
            self.assertEqual(code, EX_SELF_TEST, log)
            self.assertIn("Landlock ABI 0", log)
            self.assertIn("at least 2 (Linux 5.19)", log)
            self.assertIn("confinement.allow_reduced = true", log)
        self.assertEqual(self.receiver.requests(), [])
        self.assertEqual(len(self.site.names("new")), 2)  # and no file of the self-test

    def test_where_the_site_allows_it_it_works_and_says_so(self):
        for error in ("ENOSYS", "EOPNOTSUPP"):
            with self.subTest(error=error):
                if self.receiver:
                    self.tearDown()
                    self.doCleanups()
                    self.setUp()
                jobs = self.prepare(**{"confinement.allow_reduced": "true"})
                code, _, log = self.run_without(error, "--once")
                self.assertEqual(code, 0, log)
                (line,) = [row for row in log.splitlines() if re.search(r"\bconfined\b", row)]
                self.assertRegex(line, r'status="?none: Landlock ABI 0')
                self.assertIn("moving files between directories", line)
                self.assertEqual(len(self.receiver.saves_received()), len(jobs))

    def test_the_self_test_reports_none(self):
        self.prepare(**{"confinement.allow_reduced": "true"})
        code, report, log = self.run_without("ENOSYS", "--self-test")
        self.assertEqual(code, 0, log)
        self.assertIn('"landlock_abi":0', report)
        self.assertIn('"status":"none"', report)

    def test_the_connector_refuses_too(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            command = [WRAPPER, "ENOSYS", program("intray-connector"), "--address", "127.0.0.1:9", "--channel", str(theirs.fileno())]
            done = subprocess.run(command, pass_fds=[theirs.fileno()], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=30, **IDS)
            self.assertEqual(done.returncode, EX_SELF_TEST)
            self.assertIn("no Landlock", done.stderr)


if __name__ == "__main__":
    main()
