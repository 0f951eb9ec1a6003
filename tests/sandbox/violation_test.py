#!/usr/bin/python3
"""A call that no policy allows, made by the real programs at work (violate.cc does what smuggled-in code would): the kernel ends
the process, the job stays where it was, and the next start finishes it without sending anything twice.
"""
import os
import signal
import unittest

from harness import SANITIZED, SiteTest, main, own, program, wait_for

VIOLATE = os.environ["INTRAY_VIOLATE_LIBRARY"]


@unittest.skipIf(SANITIZED, "a sanitizer wants to be the first library, and its own list of calls is wider")
class Violation(SiteTest):
    def attacked(self, moment):
        return dict(os.environ, LD_PRELOAD=VIOLATE, INTRAY_VIOLATE=moment)

    def run_attacked(self, moment, ends_by=signal.SIGSYS):
        self.start_receiver()
        site = self.make_site()
        (job,) = site.submit_all(self.repo.notes(1))
        child = site.executor("--once", env=self.attacked(moment))
        self.running.append(child)
        self.assertEqual(child.wait(60), -ends_by, site.log()[-2000:])
        self.assertEqual(site.receipts(), [])
        self.assertEqual(site.names("new"), [])
        self.assertEqual(len(site.names("lease/0")), 1, "the job stays claimed")
        return site, job

    def check_recovery(self, site, job, sent_before):
        self.assertEqual(len(self.receiver.saves_received()), sent_before)
        # Where the read-back finds nothing, the job waits for its next attempt, and --once says that it does.
        wait_for("the outcome", lambda: site.once(code=None) == 0, 60)
        self.assertEqual(site.outcome(job)[0], "SUCCEEDED")
        self.assertEqual(len(self.receiver.saves_received()), 1, "sent twice, or never")
        self.assertEqual(site.names("lease/0"), [])
        self.assertEqual(len(site.names("done")), 1)
        self.assertEqual(len(self.receiver.files()), 1)

    def test_right_after_the_claim(self):
        self.check_recovery(*self.run_attacked("claim"), 0)

    def test_right_before_the_first_byte(self):
        self.check_recovery(*self.run_attacked("before-send"), 0)

    def test_right_after_the_request(self):
        site, job = self.run_attacked("after-send")
        wait_for("the request", lambda: self.receiver.saves_applied())
        self.check_recovery(site, job, 1)

    def test_an_assertion_that_fails_under_the_filter_ends_as_what_it_is(self):
        site, job = self.run_attacked("abort", signal.SIGABRT)
        self.check_recovery(site, job, 0)

    def test_without_an_attack_the_library_changes_nothing(self):
        self.start_receiver()
        site = self.make_site()
        site.submit_all(self.repo.notes(2))
        child = site.executor("--once", env=self.attacked(""))
        self.running.append(child)
        self.assertEqual(child.wait(60), 0, site.log()[-2000:])
        self.assertEqual(len(self.receiver.saves_received()), 2)

    def test_a_connector_that_violates_its_policy_dies_and_nothing_is_sent(self):
        self.start_receiver()
        site = self.make_site()
        site.submit_all(self.repo.notes(1))
        # Its environment is empty, so a shell puts the library in.
        path = os.path.join(self.home, "connector")
        ended = os.path.join(self.home, "ended")
        with open(path, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nLD_PRELOAD=%s INTRAY_VIOLATE=answer %s "$@" </dev/null\necho $? >%s\n' % (VIOLATE, program("intray-connector"), ended))
        os.chmod(path, 0o755)
        own(path)
        site.set({"connector.program": '"%s"' % path})
        child = site.executor("--once")
        self.running.append(child)
        self.assertGreater(child.wait(60), 0, site.log()[-2000:])
        wait_for("its end", lambda: os.path.exists(ended) and open(ended, encoding="ascii").read())
        with open(ended, encoding="ascii") as file:
            self.assertEqual(int(file.read()), 128 + signal.SIGSYS)
        self.assertEqual(self.receiver.requests(), [])
        site.set({"connector.program": '"%s"' % program("intray-connector")})
        site.once()
        self.assertEqual(len(self.receiver.saves_received()), 1)


if __name__ == "__main__":
    main()
