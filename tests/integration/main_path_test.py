#!/usr/bin/python3
"""The main path: notes of a git repository go through the inbox into the receiver's vault."""
import json
import os
import subprocess
import time

import harness
from harness import SiteTest, program, wait_for


class MainPath(SiteTest):
    def test_every_note_is_saved_once_with_gits_bytes(self):
        commit = self.repo.notes(60)
        receiver, site = self.start_receiver(), self.make_site()
        ids = site.submit_all(commit)
        self.assertEqual(len(ids), 60)
        self.assertEqual(len(site.names("new")), 60)
        site.once()
        for path in receiver.files():
            with open(os.path.join(self.repo.work, path), "rb") as file:
                self.assertEqual(receiver.content(path), file.read(), path)
        self.assertEqual(len(receiver.files()), 60)
        self.assertEqual(len(receiver.saves_applied()), 60)
        self.assertEqual(len({r["path"] for r in receiver.saves_received()}), 60)
        for job_id in ids:
            self.assertEqual(site.outcome(job_id), ("SUCCEEDED", None, "APPLIED"))
        self.assertEqual(len(site.receipts()), 60)
        self.assertEqual(len(site.names("done")), 60)
        self.assertTrue(all(name.endswith(".json:2,APPLIED") for name in site.names("done")))
        for folder in ("new", "cur", "lease/0", "tmp", "failed", "rejected", "unknown"):
            self.assertEqual(site.names(folder), [], folder)

    def test_a_second_submission_saves_nothing_again(self):
        commit = self.repo.notes(20)
        receiver, site = self.start_receiver(), self.make_site()
        site.submit_all(commit)
        site.once()
        before = len(receiver.saves_received())
        ids = site.submit_all(commit)
        site.once()
        self.assertEqual(len(receiver.saves_received()), before)
        self.assertEqual({site.outcome(i) for i in ids}, {("SUCCEEDED", None, "ALREADY_AT_TARGET")})

    def test_a_changed_target_is_saved_again(self):
        commit = self.repo.notes(1)
        receiver, site = self.start_receiver(), self.make_site()
        site.submit_all(commit)
        site.once()
        [path] = receiver.files()
        with open(os.path.join(receiver.stored, path), "w") as file:
            file.write("someone else was here")
        [job] = site.submit_all(commit)
        site.once()
        self.assertEqual(site.outcome(job), ("SUCCEEDED", None, "APPLIED"))
        keys = [r["idempotency_key"] for r in receiver.saves_received()]
        self.assertEqual(len(keys), 2)
        self.assertEqual([k.rsplit("-", 1)[1] for k in keys], ["0", "1"])

    def test_a_running_executor_takes_jobs_as_they_come(self):
        commit = self.repo.notes(3)
        receiver, site = self.start_receiver(), self.make_site()
        child = self.run_executor()
        wait_for("ready", lambda: "ready" in site.log())
        for path in sorted(receiver_paths(self.repo)):
            job = site.submit_path(commit, path)
            self.assertEqual(wait_for("receipt", lambda: site.outcome(job), 10), ("SUCCEEDED", None, "APPLIED"))
        self.assertEqual(self.stop(child), 0)
        self.assertEqual(len(receiver.saves_applied()), 3)

    def test_a_later_commit_is_seen_without_a_restart(self):
        self.repo.write("a.md", "one\n")
        first = self.repo.commit()
        receiver, site = self.start_receiver(), self.make_site()
        child = self.run_executor()
        job = site.submit_path(first, "a.md")
        wait_for("receipt", lambda: site.outcome(job))
        self.repo.write("a.md", "two\n")
        second = self.repo.commit()
        job = site.submit_path(second, "a.md")
        self.assertEqual(wait_for("receipt", lambda: site.outcome(job)), ("SUCCEEDED", None, "APPLIED"))
        self.assertEqual(receiver.content("a.md"), b"two\n")
        job = site.submit_path(first, "a.md", "--force")
        self.assertEqual(wait_for("receipt", lambda: site.outcome(job))[:2], ("REJECTED", "STALE_SOURCE"))
        self.assertEqual(receiver.content("a.md"), b"two\n")
        self.assertEqual(self.stop(child), 0)

    def test_front_matter_gives_id_and_state_where_the_site_says_so(self):
        self.repo.write("a.md", "---\nid: note-7\nstatus: active\n---\ntext\n")
        commit = self.repo.commit()
        self.start_receiver()
        site = self.make_site(**{"object_id.from": '"front-matter"'})
        job = site.submit_path(commit, "a.md")
        site.once()
        self.assertEqual(site.outcome(job), ("SUCCEEDED", None, "APPLIED"))
        shown = site.intray("show", job, check=0).stdout
        self.assertIn("note-7", shown)
        self.assertIn("active", shown)

    def test_requests_carry_exactly_what_the_contract_says(self):
        commit = self.repo.notes(1)
        receiver, site = self.start_receiver(), self.make_site()
        site.submit_all(commit)
        site.once()
        [save] = receiver.saves_received()
        self.assertRegex(save["idempotency_key"], r"^[0-9a-f]{64}-0$")
        self.assertRegex(save["request_id"], r"^[0-9a-f-]{36}$")
        self.assertRegex(save["fence"], r"^[0-9a-f]{16}\.save\.1\.[0-9]+$")

    def test_the_credential_occurs_nowhere(self):
        commit = self.repo.notes(5)
        self.start_receiver()
        site = self.make_site()
        site.submit_all(commit)
        site.once()
        with open(self.credential) as file:
            secret = file.read().strip().encode()
        for folder, _, names in os.walk(self.home):
            for name in names:
                full = os.path.join(folder, name)
                if full == self.credential or not os.path.isfile(full):
                    continue
                with open(full, "rb") as file:
                    self.assertNotIn(secret, file.read(), full)


def receiver_paths(repo):
    return [p for p in repo.git("-c", "core.quotePath=false", "ls-files").split("\n") if p]


class Listing(SiteTest):
    def test_ls_show_log_tell_what_happened(self):
        commit = self.repo.notes(2)
        self.start_receiver()
        site = self.make_site()
        ids = site.submit_all(commit)
        waiting = site.intray("ls", check=0).stdout
        self.assertIn("2", waiting)
        site.once()
        rows = [json.loads(line) for line in site.intray("ls", "-a", "--json", check=0).stdout.splitlines()]
        jobs = {r["job_id"]: r for r in rows if r.get("job_id")}
        self.assertEqual(set(ids), set(jobs))
        self.assertEqual({jobs[i]["state"] for i in ids}, {"SUCCEEDED"})
        shown = site.intray("show", ids[0][:8], check=0).stdout
        self.assertIn(ids[0], shown)
        self.assertIn("APPLIED", shown)
        self.assertIn(commit, shown)
        log = site.intray("log", ids[0], check=0).stdout
        for event in ("REQUESTED", "AUTHORIZED", "EXECUTED"):
            self.assertIn(event, log)
        self.assertEqual(site.intray("show", "ffffffff").returncode, 1)
        self.assertEqual(subprocess.run([program("intray"), "explain", "PROVENANCE_MISMATCH"], stdout=subprocess.DEVNULL).returncode, 0)

    def test_config_check_prints_settings_and_names_unknown_keys(self):
        self.repo.notes(1)
        self.start_receiver()
        site = self.make_site()
        self.assertIn("limits.in_flight", site.intray("config", "check", site.config, check=0).stdout)
        site.set({"limits.in_fligth": "3"})
        done = site.intray("config", "check", site.config)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("in_flight", done.stderr + done.stdout)
        self.assertEqual(site.once(code=None), 78)

    def test_config_check_names_what_is_no_file(self):
        self.repo.notes(1)
        self.start_receiver()
        site = self.make_site()
        pipe = os.path.join(self.home, "pipe")
        os.mkfifo(pipe)
        site.set({"missions.file": '"%s"' % pipe})
        done = site.intray("config", "check", site.config, check=1)
        self.assertIn("missions.file: %s: not a regular file" % pipe, done.stderr)
        site.set({"missions.file": '"%s.not"' % pipe})
        done = site.intray("config", "check", site.config, check=1)
        self.assertIn("missions.file: %s.not: not there" % pipe, done.stderr)


class Idle(SiteTest):
    settings = {"lease.time_to_live": '"60s"', "lease.renewal": '"20s"'}

    def test_idle_costs_nothing(self):
        commit = self.repo.notes(1)
        self.start_receiver()
        site = self.make_site()
        child = self.run_executor()
        [job] = site.submit_all(commit)
        wait_for("receipt", lambda: site.outcome(job))
        time.sleep(7)  # receipts are synced, idle connections are closed

        def switches():
            with open("/proc/%d/status" % child.pid) as file:
                return sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)

        before = switches()
        time.sleep(5)
        self.assertLessEqual(switches() - before, 2)
        self.assertEqual(self.stop(child), 0)


if __name__ == "__main__":
    harness.main()
