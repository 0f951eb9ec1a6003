#!/usr/bin/python3
"""A full disk under a locked-down executor: on a file system of its own, so that only it is full."""
import os
import subprocess
import time
import unittest

import harness
from harness import SiteTest, own, wait_for


@unittest.skipUnless(harness.AS_ROOT, "mounts a small file system, which takes root")
class FullDisk(SiteTest):
    """Outcomes that find no room: the reserve is given up for them, and the process lives on."""

    def setUp(self):
        super().setUp()
        root = os.path.join(self.home, "site")
        os.mkdir(root)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "none", root], stderr=subprocess.PIPE, check=False)
        if mounted.returncode != 0:
            self.skipTest("can't mount a tmpfs here: " + mounted.stderr.decode())
        self.addCleanup(subprocess.run, ["umount", "--lazy", root], check=False)
        own(root)
        os.chmod(root, 0o755)

    def fill(self, path):
        with open(path, "wb", buffering=0) as file:
            for size in (65536, 4096, 512, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    pass

    def test_outcomes_get_the_reserve_and_jobs_go_on_when_there_is_room(self):
        commit = self.repo.notes(60)
        self.start_receiver()
        site = self.make_site(**{"lease.time_to_live": '"60s"', "lease.renewal": '"10s"', "receiver.total_timeout": '"20s"'})
        child = self.run_executor()
        wait_for("start", lambda: "ready" in site.log())
        self.receiver.faults("save:delay=3000")
        jobs = site.submit_all(commit)
        wait_for("requests", lambda: len(self.receiver.saves_received()) >= 30)
        ballast = os.path.join(site.root, "ballast")
        self.fill(ballast)
        wait_for("the reserve", lambda: "reserve_given_up" in site.log() or child.poll() is not None)
        time.sleep(0.5)
        self.assertIsNone(child.poll(), site.log()[-2000:])
        os.unlink(ballast)
        self.receiver.faults()
        wait_for("receipts", lambda: {r["job_id"] for r in site.receipts()} >= set(jobs), 60)
        self.assertEqual({site.outcome(job)[0] for job in jobs}, {"SUCCEEDED"})
        self.assertEqual(self.stop(child), 0, site.log()[-2000:])
        paths = [r["path"] for r in self.receiver.saves_applied()]
        self.assertEqual(len(paths), len(set(paths)))


if __name__ == "__main__":
    harness.main()
