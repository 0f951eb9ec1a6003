#!/usr/bin/python3
"""Crashes, lost answers and absent receivers: nothing is lost, nothing is stuck, nothing is sent twice without a read between."""
import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

import harness
from harness import SiteTest, program, wait_for


class Killed(SiteTest):
    def test_kill_9_again_and_again_saves_every_note_and_sticks_nowhere(self):
        commit = self.repo.notes(150)
        receiver, site = self.start_receiver(), self.make_site(**{"limits.in_flight": "8"})
        ids = site.submit_all(commit)
        receiver.faults("save:delay=5")
        seed = random.randrange(1 << 30)
        print("seed", seed)
        dice = random.Random(seed)
        for _ in range(4):
            child = self.run_executor()
            have = len(site.receipts())
            goal = min(len(ids), have + dice.randrange(1, 25))
            wait_for("progress", lambda: len(site.receipts()) >= goal or child.poll() is not None, 60)
            self.assertIsNone(child.poll(), site.log()[-3000:])
            child.kill()
            child.wait()
        receiver.faults()
        site.once(timeout=120)
        for job in ids:
            self.assertEqual(site.outcome(job)[0], "SUCCEEDED", site.outcome(job))
        self.assertEqual(len(receiver.files()), 150)
        self.assertEqual(len(site.names("done")), 150)
        for folder in ("new", "cur", "lease/0"):
            self.assertEqual(site.names(folder), [], folder)
        # A path is sent twice only with a read of it in between.
        seen = {}
        for row in receiver.requests("received"):
            if row["target"] == "/api/vault/content":
                seen[row["path"]] = "read"
            elif row["target"] == "/api/vault/save":
                self.assertNotEqual(seen.get(row["path"]), "sent", "sent twice blindly: " + row["path"])
                seen[row["path"]] = "sent"

    def test_after_a_clean_stop_the_ledgers_file_alone_holds_everything(self):
        commit = self.repo.notes(10)
        self.start_receiver()
        site = self.make_site()
        jobs = site.submit_all(commit)
        site.once()
        copy = os.path.join(self.home, "copy.db")
        shutil.copyfile(site.place("ledger", "ledger.db"), copy)
        with contextlib.closing(sqlite3.connect(copy)) as ledger:
            known = ledger.execute("SELECT count(*) FROM jobs WHERE state = 'SUCCEEDED'").fetchone()[0]
        self.assertEqual(known, len(jobs))

    def test_a_clean_stop_finishes_what_is_under_way(self):
        commit = self.repo.notes(30)
        receiver, site = self.start_receiver(faults=["save:delay=100"]), self.make_site(**{"limits.in_flight": "4"})
        ids = site.submit_all(commit)
        child = self.run_executor()
        wait_for("first receipts", lambda: len(site.receipts()) >= 2)
        self.assertEqual(self.stop(child), 0)
        self.assertEqual(site.names("lease/0"), [])
        started = len(receiver.saves_received())
        self.assertEqual(started, len(receiver.saves_applied()))
        self.assertEqual(len(site.receipts()), started)
        began = time.monotonic()
        site.once()
        self.assertLess(time.monotonic() - began, 15, "a released lease must not be waited for")
        self.assertEqual({site.outcome(i)[0] for i in ids}, {"SUCCEEDED"})
        self.assertEqual(len(receiver.saves_received()), 30)


class Away(SiteTest):
    def test_without_a_receiver_jobs_wait_and_go_through_when_it_comes(self):
        commit = self.repo.notes(12)
        site = self.make_site()
        ids = site.submit_all(commit)
        child = self.run_executor()
        wait_for("waiting", lambda: len(site.names("cur")) == 12)
        time.sleep(1)
        self.assertEqual(site.receipts(), [])
        receiver = self.start_receiver(port=self.port)
        wait_for("receipts", lambda: len(site.receipts()) == 12)
        self.assertEqual({site.outcome(i) for i in ids}, {("SUCCEEDED", None, "APPLIED")})
        self.assertEqual(len(receiver.saves_received()), 12)
        self.assertEqual(self.stop(child), 0)

    def test_a_ledger_that_is_gone_is_not_begun_anew(self):
        commit = self.repo.notes(3)
        receiver, site = self.start_receiver(), self.make_site()
        site.submit_all(commit)
        site.once()
        for name in site.names("ledger"):
            os.unlink(site.place("ledger", name))
        site.submit_all(commit)
        self.assertEqual(site.once(code=None), 78)
        self.assertIn("ledger.db is missing", site.log())
        self.assertEqual(len(receiver.saves_received()), 3)
        self.assertEqual(len(site.names("new")), 3)

    def test_once_waits_for_a_job_that_only_time_holds_back(self):
        commit = self.repo.notes(1)
        receiver, site = self.start_receiver(faults=["save:cut-before:count=1"]), self.make_site()
        [job] = site.submit_all(commit)
        site.once()
        self.assertEqual(site.outcome(job), ("SUCCEEDED", None, "APPLIED"))
        self.assertEqual(len(receiver.saves_received()), 2)

    def test_once_says_1_as_long_as_an_outcome_is_unknown(self):
        commit = self.repo.notes(2)
        self.start_receiver(faults=["save:lie:count=1"])
        site = self.make_site(**{"limits.in_flight": "1"})
        ids = site.submit_all(commit)
        for _ in range(2):
            self.assertEqual(site.once(code=None), 1)
        self.assertEqual(sorted(site.outcome(i)[0] for i in ids), ["OUTCOME_UNKNOWN", "SUCCEEDED"])

    def test_once_says_1_where_jobs_still_wait(self):
        commit = self.repo.notes(2)
        site = self.make_site()
        site.submit_all(commit)
        self.assertEqual(site.once(code=None), 1)
        self.assertEqual(len(site.names("cur")), 2)

    def test_a_receiver_that_goes_away_and_comes_back_burns_no_job(self):
        commit = self.repo.notes(40)
        receiver, site = self.start_receiver(faults=["save:delay=20"]), self.make_site(**{"limits.in_flight": "2", "verify.deadline": '"60s"'})
        ids = site.submit_all(commit)
        child = self.run_executor()
        wait_for("some receipts", lambda: len(site.receipts()) >= 5)
        receiver.process.kill()
        receiver.process.wait()
        time.sleep(1.5)
        receiver.process.stdout.close()
        self.start_receiver(port=self.port)
        wait_for("all receipts", lambda: all(site.outcome(i) for i in ids), 60)
        self.assertEqual({site.outcome(i)[0] for i in ids}, {"SUCCEEDED"})
        self.assertEqual(self.stop(child), 0)

    def test_a_breaker_opened_by_answers_is_probed_too(self):
        commit = self.repo.notes(6)
        with open(os.path.join(self.home, "faults"), "w") as file:  # there before the receiver looks
            file.write("any:status=503\n")
        harness.own(file.name)
        receiver, site = self.start_receiver(), self.make_site(**{"breaker.failures": "2", "verify.deadline": '"300ms"'})
        ids = site.submit_all(commit)
        child = self.run_executor()
        wait_for("the breaker", lambda: "breaker_open" in site.log())
        time.sleep(2)  # every read-back has given up by now: nothing but a probe can notice
        receiver.faults()
        wait_for("all receipts", lambda: all(site.outcome(i) for i in ids), 60)
        self.assertEqual({site.outcome(i)[0] for i in ids}, {"SUCCEEDED"})
        self.assertIn("receiver_back", site.log())
        self.assertEqual(self.stop(child), 0)

    def test_a_mirror_that_goes_away_makes_jobs_wait(self):
        commit = self.repo.notes(3)
        self.start_receiver()
        site = self.make_site()
        child = self.run_executor()
        wait_for("ready", lambda: "ready" in site.log())
        os.rename(self.repo.mirror, self.repo.mirror + ".away")
        site.repo.mirror += ".away"
        ids = site.submit_all(commit)
        time.sleep(1.5)
        self.assertEqual(site.receipts(), [])
        os.rename(self.repo.mirror, self.repo.mirror[: -len(".away")])
        wait_for("receipts", lambda: len(site.receipts()) == 3)
        self.assertEqual({site.outcome(i)[0] for i in ids}, {"SUCCEEDED"})
        self.assertEqual(self.stop(child), 0)


class Answers(SiteTest):
    """Each fault of the receiver, and what may be said after it."""

    def one(self, fault, code=0, **settings):
        commit = self.repo.notes(1)
        receiver = self.start_receiver(faults=[fault])
        site = self.make_site(**settings)
        [job] = site.submit_all(commit)
        self.exit = site.once(code=None)
        return receiver, site, job

    def check(self, fault, state, reason=None, result=None, **settings):
        receiver, site, job = self.one(fault, **settings)
        self.assertEqual(site.outcome(job), (state, reason, result), site.log())
        applied = bool(receiver.saves_applied())
        if state in ("FAILED", "REJECTED"):
            self.assertFalse(applied)
        if state == "SUCCEEDED":
            self.assertEqual(len(receiver.files()), 1)
        return receiver, site, job

    def test_an_answer_lost_after_the_effect_is_observed(self):
        receiver, _, _ = self.check("save:cut-after:count=1", "SUCCEEDED", None, "OBSERVED_APPLIED")
        self.assertEqual(len(receiver.saves_received()), 1)

    def test_a_reset_after_the_effect_is_observed(self):
        receiver, _, _ = self.check("save:reset-after:count=1", "SUCCEEDED", None, "OBSERVED_APPLIED")
        self.assertEqual(len(receiver.saves_received()), 1)

    def test_a_500_without_effect_failed(self):
        receiver, _, _ = self.check("save:status=500", "FAILED", "RECEIVER_ERROR", "NO_EFFECT")
        self.assertEqual(len(receiver.saves_received()), 1)

    def test_a_500_after_the_effect_succeeded(self):
        self.check("save:status-after=500", "SUCCEEDED", None, "OBSERVED_APPLIED")

    def test_a_404_failed(self):
        self.check("save:status=404", "FAILED", "TARGET_MISSING", "NO_EFFECT")

    def test_a_409_failed(self):
        self.check("save:status=409", "FAILED", "TARGET_CONFLICT", "NO_EFFECT")

    def test_a_lie_is_a_verify_mismatch(self):
        receiver, site, job = self.check("save:lie", "OUTCOME_UNKNOWN", "VERIFY_MISMATCH", "UNKNOWN")
        self.assertEqual(self.exit, 1)
        self.assertEqual(len(site.names("unknown")), 1)
        self.assertIn("OUTCOME_UNKNOWN", site.intray("ls", check=0).stdout)

    def test_the_save_after_a_verify_mismatch_is_another_request(self):
        # A receiver that remembers its answers by key would otherwise repeat the one that was a lie.
        receiver, site, _ = self.check("save:lie:count=1", "OUTCOME_UNKNOWN", "VERIFY_MISMATCH", "UNKNOWN")
        [job] = site.submit_all("main")
        site.once(code=None)
        self.assertEqual(site.outcome(job), ("SUCCEEDED", None, "APPLIED"))
        first, second = [r["idempotency_key"] for r in receiver.saves_received()]
        self.assertEqual((first[:-2], first[-2:], second[-2:]), (second[:-2], "-0", "-1"))

    def test_a_request_that_never_left_lends_its_key(self):
        commit = self.repo.notes(1)
        site = self.make_site(**{"breaker.probe": '"200ms"', "retry.first_wait": '"50ms"'})
        [job] = site.submit_all(commit)
        child = self.run_executor()
        wait_for("an attempt to connect", lambda: "receiver_unavailable" in site.log() or "breaker_open" in site.log())
        receiver = self.start_receiver(port=self.port)
        self.assertEqual(wait_for("receipt", lambda: site.outcome(job)), ("SUCCEEDED", None, "APPLIED"))
        self.assertEqual([r["idempotency_key"][-2:] for r in receiver.saves_received()], ["-0"])
        self.assertEqual(self.stop(child), 0)

    def test_mangled_content_is_a_verify_mismatch_with_both_hashes(self):
        _, site, job = self.check("save:mangle", "OUTCOME_UNKNOWN", "VERIFY_MISMATCH", "UNKNOWN")
        evidence = site.receipt(job)["evidence"]
        self.assertNotEqual(evidence["expected_sha256"], evidence["observed_sha256"])

    def test_html_with_status_200_is_no_success(self):
        self.check("save:html", "OUTCOME_UNKNOWN", "RESPONSE_MALFORMED", "UNKNOWN")

    def test_another_body_after_the_effect_is_observed(self):
        self.check("save:body=ok", "SUCCEEDED", None, "OBSERVED_APPLIED")

    def test_401_fails_the_job_and_suspends_the_executor(self):
        commit = self.repo.notes(20)
        receiver = self.start_receiver(faults=["save:status=401"])
        site = self.make_site(**{"limits.in_flight": "1"})
        ids = site.submit_all(commit)
        self.assertEqual(site.once(code=None), 1)
        failed = [i for i in ids if site.outcome(i)]
        self.assertLessEqual(len(failed), 2)
        self.assertEqual({site.outcome(i) for i in failed}, {("FAILED", "RECEIVER_UNAUTHORIZED", "NO_EFFECT")})
        self.assertEqual(len(receiver.saves_received()), len(failed))

    def test_a_lost_request_is_sent_again_only_after_a_read(self):
        commit = self.repo.notes(1)
        receiver, site = self.start_receiver(faults=["save:cut-before:count=1"]), self.make_site()
        [job] = site.submit_all(commit)
        child = self.run_executor()
        wait_for("receipt", lambda: site.outcome(job), 30)
        self.assertEqual(site.outcome(job), ("SUCCEEDED", None, "APPLIED"))
        order = [r["target"].rsplit("/", 1)[1] for r in receiver.requests("received")]
        self.assertEqual(order[0], "save")
        self.assertIn("content", order[1 : order.index("save", 1)])
        self.assertEqual([r["idempotency_key"][-2:] for r in receiver.saves_received()], ["-0", "-1"])
        self.assertEqual(self.stop(child), 0)

    def test_429_waits_for_retry_after(self):
        commit = self.repo.notes(1)
        receiver, site = self.start_receiver(faults=["save:status=429:count=1:retry-after=2"]), self.make_site()
        [job] = site.submit_all(commit)
        child = self.run_executor()
        wait_for("receipt", lambda: site.outcome(job), 30)
        self.assertEqual(site.outcome(job), ("SUCCEEDED", None, "APPLIED"))
        self.assertEqual(len(receiver.saves_received()), 2)
        self.assertEqual(self.stop(child), 0)

    def test_attempts_run_out(self):
        commit = self.repo.notes(1)
        receiver, site = self.start_receiver(faults=["save:status=429"]), self.make_site(**{"retry.max_attempts": "3"})
        [job] = site.submit_all(commit)
        child = self.run_executor()
        wait_for("receipt", lambda: site.outcome(job), 60)
        self.assertEqual(site.outcome(job), ("FAILED", "RETRIES_EXHAUSTED", "NO_EFFECT"))
        self.assertEqual(len(receiver.saves_received()), 3)
        self.assertEqual(self.stop(child), 0)

    def test_idle_connections_that_the_server_closes_cost_no_job(self):
        commit = self.repo.notes(4)
        receiver = self.start_receiver(extra=["--idle-timeout", "1"])
        site = self.make_site(**{"receiver.idle_reuse": '"500ms"'})
        child = self.run_executor()
        wait_for("ready", lambda: "ready" in site.log())
        for path in sorted(p for p in self.repo.git("-c", "core.quotePath=false", "ls-files").split("\n") if p):
            job = site.submit_path(commit, path)
            self.assertEqual(wait_for("receipt", lambda: site.outcome(job)), ("SUCCEEDED", None, "APPLIED"))
            time.sleep(1.1)
        self.assertEqual(len(receiver.saves_received()), 4)
        self.assertEqual(self.stop(child), 0)


class Refusals(SiteTest):
    def start(self):
        self.repo.notes(1)
        self.start_receiver()
        return self.make_site()

    def test_a_second_worker_finds_the_slot_held(self):
        site = self.start()
        child = self.run_executor()
        wait_for("ready", lambda: "ready" in site.log())
        self.assertEqual(site.once(code=None), 75)
        self.assertEqual(self.stop(child), 0)

    def test_a_credential_that_others_can_read_stops_the_start(self):
        site = self.start()
        os.chmod(self.credential, 0o444)
        self.assertEqual(site.once(code=None), 77)
        os.chmod(self.credential, 0o400)
        os.truncate(self.credential, 0)
        self.assertEqual(site.once(code=None), 77)

    def test_a_start_that_fails_holds_no_lease(self):
        site = self.start()
        site.set({"lease.time_to_live": '"60s"', "lease.renewal": '"20s"'})
        os.chmod(self.credential, 0o444)
        self.assertEqual(site.once(code=None), 77)
        os.chmod(self.credential, 0o400)
        began = time.monotonic()
        site.once()
        self.assertLess(time.monotonic() - began, 20, "it waited for the lease of the failed start")

    def test_a_policy_without_a_line_stops_the_start(self):
        site = self.start()
        open(os.path.join(site.root, "etc", "policy.toml"), "w").close()
        self.assertEqual(site.once(code=None), 75)
        self.assertIn("no line allows", site.log())

    @unittest.skipUnless(harness.AS_ROOT, "only root can try to run it as root")
    def test_a_mirror_that_is_a_link_is_refused_by_name(self):
        self.repo.notes(1)
        site = self.make_site()
        link = os.path.join(self.home, "link.git")
        os.symlink(self.repo.mirror, link)
        site.set({"git.mirror": '"%s"' % link})
        self.assertEqual(site.once(code=None), 78)
        self.assertIn("git.mirror: " + link, site.log())

    def test_root_is_refused(self):
        site = self.start()
        done = subprocess.run([program("intray-save"), "--config", site.config, "--once"], stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 78)
        self.assertIn(b"root", done.stderr)


if __name__ == "__main__":
    harness.main()
