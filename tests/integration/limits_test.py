"""Limits and trust at the edges, through the real binaries: what stays in new/, what is looked at late, whose mirror counts."""

import os
import subprocess
import time
import unittest

import harness
from harness import SiteTest, canonical, own, wait_for


def changes(site):
    """The lines that say a limit was reached or left, in order."""
    return [line for line in site.log().split("\n") if "BACKPRESSURE" in line]


class Pressure(SiteTest):
    settings = {"inbox.scan_interval": '"200ms"'}

    def start_without_receiver(self, jobs, **settings):
        commit = self.repo.notes(jobs)
        site = self.make_site(**settings)
        ids = site.submit_all(commit)
        self.assertEqual(len(ids), jobs)
        return site, ids, self.run_executor()

    def finish(self, site, ids, child):
        receiver = self.start_receiver(port=self.port)
        wait_for("receipts", lambda: all(site.outcome(i) for i in ids), 60)
        self.assertEqual({site.outcome(i) for i in ids}, {("SUCCEEDED", None, "APPLIED")})
        self.assertEqual(len(receiver.saves_applied()), len(ids))
        self.assertEqual(site.names("new") + site.names("cur"), [])
        self.assertEqual(self.stop(child), 0)

    def test_a_requester_at_its_limit_keeps_its_further_jobs_in_new(self):
        site, ids, child = self.start_without_receiver(12, **{"limits.per_requester": "4"})
        wait_for("the limit", lambda: changes(site))
        wait_for("jobs in cur/", lambda: len(site.names("cur")) == 4)
        time.sleep(1)  # several scans later nothing has changed, and nothing was said again
        self.assertEqual((len(site.names("cur")), len(site.names("new"))), (4, 8))
        self.assertEqual(len(changes(site)), 1, site.log())
        self.finish(site, ids, child)
        self.assertLessEqual(len(changes(site)), 2 * len(ids))

    def test_a_requester_at_its_limit_of_bytes_too(self):
        site, ids, child = self.start_without_receiver(60, **{"limits.per_requester_bytes": '"16KiB"'})
        wait_for("the limit", lambda: changes(site))
        self.assertIn("limits.per_requester_bytes", changes(site)[0])
        wait_for("jobs in cur/", lambda: len(site.names("cur")) > 8)
        time.sleep(1)
        waiting = sum(os.path.getsize(site.place("cur", name)) for name in site.names("cur"))
        self.assertLessEqual(waiting, 16 * 1024)
        self.assertGreater(waiting, 14 * 1024)
        self.assertEqual(len(changes(site)), 1, site.log())
        self.finish(site, ids, child)

    def test_a_backlog_beyond_its_limit_is_worked_off_and_not_moved_to_cur(self):
        site, ids, child = self.start_without_receiver(12, **{"limits.backlog": "6"})
        wait_for("the limit", lambda: changes(site))
        time.sleep(1)
        self.assertEqual((len(site.names("cur")), len(site.names("new"))), (0, 12))
        self.assertEqual(len(changes(site)), 1, site.log())
        receiver = self.start_receiver(port=self.port)
        wait_for("receipts", lambda: all(site.outcome(i) for i in ids), 60)
        wait_for("the end of it", lambda: len(changes(site)) == 2)
        self.assertIn("pressure_over", changes(site)[-1])
        self.assertEqual(len(receiver.saves_applied()), 12)
        self.assertEqual(self.stop(child), 0)

    def test_once_does_not_wait_for_room(self):
        commit = self.repo.notes(5)
        site = self.make_site(**{"limits.backlog": "3"})
        site.submit_all(commit)
        self.assertEqual(site.once(code=None), 1)
        site.set({"limits.backlog": "100", "limits.waiting": "2", "limits.in_flight": "1"})
        self.assertEqual(site.once(code=None), 1)
        self.assertEqual((len(site.names("cur")), len(site.names("new"))), (2, 3))

    def test_no_more_than_the_limit_wait_in_cur_though_the_receiver_answers(self):
        self.repo.write("a.md", "a\n")
        commit = self.repo.commit()
        self.start_receiver(faults=["save:delay=300"])
        site = self.make_site(**{"limits.waiting": "3", "limits.in_flight": "2"})
        jobs = [site.job(commit, "a.md", b"a\n") for _ in range(8)]  # one object: one runs, the others wait
        for job in jobs:
            site.drop(job)
        child = self.run_executor()
        most = 0
        while not all(site.outcome(j["job_id"]) for j in jobs):
            most = max(most, len(site.names("cur")))
            self.assertIsNone(child.poll())
            time.sleep(0.01)
        self.assertLessEqual(most, 3)
        self.assertEqual({site.outcome(j["job_id"])[0] for j in jobs}, {"SUCCEEDED"})
        self.assertEqual(self.stop(child), 0)


class PlainCreates(SiteTest):
    """Files made in new/ itself, against the protocol. No scan helps here: it comes once an hour."""

    settings = {"inbox.scan_interval": '"1h"'}

    def test_they_are_looked_at_after_a_moment(self):
        self.repo.write("a.md", "a\n")
        commit = self.repo.commit()
        self.start_receiver()
        site = self.make_site()
        child = self.run_executor()
        wait_for("ready", lambda: "ready" in site.log())

        def create(content, job_id):
            path = site.place("new", "%016d.%s.json" % (time.time_ns() // 1000, job_id))
            with open(path, "xb", buffering=0) as file:
                own(path)
                os.chmod(path, 0o644)
                file.write(content[: len(content) // 2])
                file.write(content[len(content) // 2 :])

        # A busy machine may stop this writer for longer than the moment it has: then the file is judged as it was.
        for _ in range(5):
            job = site.job(commit, "a.md", b"a\n")
            judged = len(site.names("rejected"))
            create(canonical(job), job["job_id"])
            wait_for("an end", lambda: site.outcome(job["job_id"]) or len(site.names("rejected")) > judged, 30)
            if site.outcome(job["job_id"]):
                break
        self.assertEqual(site.outcome(job["job_id"])[0], "SUCCEEDED", site.log())
        create(b"", job["job_id"])
        os.mkfifo(site.place("new", "fifo"))
        own(site.place("new", "fifo"))
        wait_for("the empty one", lambda: "EMPTY_FILE" in " ".join(site.names("rejected")), 30)
        wait_for("an empty new/", lambda: site.names("new") == [], 30)
        self.assertIn("plain_create_in_new", site.log())
        self.assertEqual(self.stop(child), 0)


class MirrorOwner(SiteTest):
    MIRROR_UID = 64_711

    @unittest.skipUnless(os.geteuid() == 0, "only root can give the mirror to another user")
    def test_a_mirror_kept_by_a_user_of_its_own(self):
        commit = self.repo.notes(2)
        receiver = self.start_receiver()
        site = self.make_site(**{"git.mirror_owner": '"%d"' % self.MIRROR_UID})
        ids = site.submit_all(commit)
        # It still belongs to the executor's own user, who is not the one that was named.
        self.assertEqual(site.once(code=None), 78)
        self.assertIn("dubious ownership", site.log())
        subprocess.run(["chown", "-R", str(self.MIRROR_UID), self.repo.mirror], check=True)
        subprocess.run(["chmod", "-R", "go-w", self.repo.mirror], check=True)
        site.once()
        self.assertEqual({site.outcome(i) for i in ids}, {("SUCCEEDED", None, "APPLIED")})
        self.assertEqual(len(receiver.saves_applied()), 2)
        # Without the setting nobody but the executor's user and root may own it.
        site.set({"git.mirror_owner": '""'})
        self.assertEqual(site.once(code=None), 78)
        self.assertIn("git.mirror_owner", site.log())


if __name__ == "__main__":
    harness.main()
