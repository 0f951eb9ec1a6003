#!/usr/bin/python3
"""What a locked-down executor must still be able to do over a long life: a repository that is repacked under it, a log of the ledger that
grows, a second worker at the same ledger, and its own self-test beside it."""
import json
import os
import signal
import subprocess
import time

import harness
from harness import IDS, SiteTest, own, program, wait_for


class LongLife(SiteTest):
    def finish(self, site, jobs, timeout=60):
        try:
            wait_for("receipts of %d jobs" % len(jobs), lambda: {r["job_id"] for r in site.receipts()} >= set(jobs), timeout)
        except AssertionError as late:
            raise AssertionError("%s\n%s" % (late, site.log()[-6000:])) from None
        self.assertEqual({site.outcome(job)[0] for job in jobs}, {"SUCCEEDED"})

    def test_the_mirror_is_repacked_and_fetched_into_while_it_works(self):
        commit = self.repo.notes(20)
        self.start_receiver()
        site = self.make_site()
        child = self.run_executor()
        self.finish(site, site.submit_all(commit))
        for turn in range(3):
            self.repo.write("notes/late %d.md" % turn, "late %d\n" % turn)
            commit = self.repo.commit()
            for command in (["gc", "--quiet", "--prune=now"], ["pack-refs", "--all"], ["multi-pack-index", "write"]):
                self.repo.git(*command, cwd=self.repo.mirror)
            own(self.repo.mirror)
            self.finish(site, [site.submit_path(commit, "notes/late %d.md" % turn)])
        self.assertEqual(self.stop(child), 0)

    def test_thousands_of_jobs_grow_the_ledgers_log(self):
        commit = self.repo.notes(2500)
        self.start_receiver()
        site = self.make_site()
        jobs = site.submit_all(commit)
        site.once()
        self.assertEqual(len(jobs), 2500)
        self.assertEqual(len(self.receiver.files()), 2500)
        self.assertEqual(len(site.names("done")), 2500)

    def test_two_workers_share_one_ledger(self):
        commit = self.repo.notes(300)
        self.start_receiver()
        site = self.make_site(slots="2")
        self.assertEqual(subprocess.run([program("intray"), "init", "--user-mode", "--root", site.root], cwd=self.home, **IDS,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).returncode, 0)
        policy = os.path.join(site.root, "etc", "policy.toml")
        with open(policy, encoding="utf-8") as file:
            text = file.read()
        first = text[text.rindex("[[lease]]"):]
        with open(policy, "w", encoding="utf-8") as file:
            file.write(text + "\n" + first.replace("save/0", "save/1"))
        children = [self.run_executor(), self.run_executor()]
        jobs = site.submit_all(commit)
        self.finish(site, jobs)
        for child in children:
            self.assertEqual(self.stop(child), 0, site.log()[-2000:])
        paths = [r["path"] for r in self.receiver.saves_applied()]
        self.assertEqual(len(paths), len(set(paths)))

    def test_the_self_test_beside_a_worker(self):
        commit = self.repo.notes(5)
        self.start_receiver()
        site = self.make_site()
        child = self.run_executor()
        wait_for("start", lambda: "ready" in site.log())
        done = subprocess.run([program("intray-save"), "--config", site.config, "--self-test"], cwd=self.home, **IDS,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual({check["result"] for check in report["checks"]}, {"pass"})
        self.assertIn(report["status"], ("full", "reduced"))
        self.assertLessEqual({"foreign_file", "rename_out", "socket", "exec", "fork", "claim", "ledger_write", "connector"},
                             {check["name"] for check in report["checks"]})
        self.finish(site, site.submit_all(commit))
        self.assertEqual(self.stop(child), 0)
        for folder in ("new", "cur", "lease/0", "tmp"):
            self.assertEqual(site.names(folder), [], folder)

    def test_what_a_self_test_left_behind_is_no_job_and_no_obstacle(self):
        commit = self.repo.notes(3)
        self.start_receiver()
        site = self.make_site()
        for folder in ("new", "cur", "lease/0"):
            with open(site.place(folder, ".self-test.0"), "w", encoding="ascii"):
                pass
            own(site.place(folder, ".self-test.0"))
        jobs = site.submit_all(commit)
        site.once()
        self.finish(site, jobs)
        self.assertEqual(len(site.receipts()), 3)
        for folder in ("new", "cur", "lease/0"):
            self.assertEqual(site.names(folder), [], folder)

    def test_a_requesters_directory_of_that_name_is_no_obstacle_either(self):
        commit = self.repo.notes(3)
        self.start_receiver()
        site = self.make_site()
        obstacle = site.place("new", ".self-test.0")
        os.makedirs(os.path.join(obstacle, "full"))  # belongs to another user, where root runs this
        jobs = site.submit_all(commit)
        site.once()
        self.finish(site, jobs)
        self.assertEqual(site.names("new"), [".self-test.0"])
        for folder in ("cur", "lease/0"):
            self.assertEqual(site.names(folder), [], folder)

    def test_after_a_pause_longer_than_its_lease_it_ends_to_be_started_again(self):
        commit = self.repo.notes(3)
        self.start_receiver()
        site = self.make_site()
        child = self.run_executor()
        wait_for("start", lambda: "ready" in site.log())
        child.send_signal(signal.SIGSTOP)
        time.sleep(2.5)  # the lease is 2 s
        jobs = site.submit_all(commit)
        child.send_signal(signal.SIGCONT)
        self.assertEqual(child.wait(timeout=30), 69, site.log()[-2000:])
        self.assertIn("LEASE_EXPIRED", site.log())
        site.once()
        self.finish(site, jobs)
        paths = [r["path"] for r in self.receiver.saves_applied()]
        self.assertEqual(len(paths), len(set(paths)))


if __name__ == "__main__":
    harness.main()
