"""The Python client against a real site: from a note in git to the receiver, and back to a receipt."""
import os
import re
import sys
import threading
import traceback

import harness
import intray
from harness import SiteTest

PACKAGE = os.environ["INTRAY_PYTHON"]
README = os.path.join(PACKAGE, "..", "..", "README.md")


def readme_example():
    with open(README, encoding="utf-8") as file:
        return re.search(r"(?ms)^```python\n(.*?)^```$", file.read())[1]


class EndToEnd(SiteTest):
    def setUp(self):
        super().setUp()
        self.commit = self.repo.notes(12)
        self.start_receiver()
        self.site = self.make_site()
        self.inbox = intray.Inbox(self.site.place())

    def as_requester(self, act):
        """Runs `act` in a child, as the harness's user, and returns what it printed. (Whose python3 this is, that user may be unable to start.)"""
        sys.stdout.flush()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                if harness.AS_ROOT:
                    os.setgroups([])
                    os.setgid(harness.GID)
                    os.setuid(harness.UID)
                os.dup2(writing, 1)
                os.environ.update(self.repo.env)
                os.chdir(self.home)
                act()
                sys.stdout.flush()
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        os.close(writing)
        with open(reading, encoding="utf-8") as printed:
            out = printed.read()
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        return out

    def note(self, number):
        path = "notes/%02d/note %04d – ü.md" % (number % 7, number)
        with open(os.path.join(self.repo.work, path), "rb") as file:
            return path, file.read()

    def hand_over(self, jobs):
        return self.as_requester(lambda: [print(type(attempt.error).__name__) for attempt in self.inbox.hand_over_all(jobs)]).split()

    def test_the_example_of_the_readme_runs(self):
        example = readme_example().replace("/srv/vault", self.repo.work).replace("notes/today.md", self.note(3)[0]).replace("/var/lib/intray/save", self.inbox.path)
        child = self.run_executor()
        self.assertRegex(self.as_requester(lambda: exec(compile(example, "README.md", "exec"), {})), r"^handed over [0-9a-f-]{36}\nSUCCEEDED APPLIED\n$")
        self.assertEqual(self.receiver.content(self.note(3)[0]), self.note(3)[1])
        self.stop(child)

    def test_a_batch_goes_through_once_however_often_it_is_handed_over(self):
        jobs = [intray.SaveJob.of_note(path, self.commit, content) for path, content in map(self.note, range(12))]
        self.assertEqual(self.hand_over(jobs), ["NoneType"] * 12)
        self.assertEqual(self.hand_over(jobs[:3]), ["AlreadyHandedOver"] * 3)
        self.site.once()
        self.assertEqual(self.hand_over(jobs[:3]), ["NoneType"] * 3)  # out of new/: taken again, and known as duplicates
        self.site.once()
        for job in jobs:
            receipt = self.inbox.receipts.find(intray.handed_of(job, job.to_bytes()))
            self.assertEqual((receipt.state, receipt.result, receipt.attempts), ("SUCCEEDED", "APPLIED", 1))
        self.assertEqual(len(self.receiver.saves_applied()), 12)
        self.assertEqual(self.site.names("new") + self.site.names("tmp"), [])

    def test_what_git_does_not_confirm_is_told_with_its_code(self):
        path, content = self.note(0)
        wrong = [intray.SaveJob.of_note(path, self.commit, content + b"!"), intray.SaveJob.of_note(path, self.commit, content, state="done"),
                 intray.SaveJob.of_note(path, "1" * 40, content)]
        self.hand_over(wrong)
        self.site.once()
        reasons = [self.inbox.receipts.wait(intray.handed_of(job, job.to_bytes()), timeout_s=0).reason for job in wrong]
        self.assertEqual(reasons, ["PROVENANCE_MISMATCH", "STATE_MISMATCH", "UNKNOWN_COMMIT"])
        self.assertEqual(self.receiver.saves_received(), [])

    def test_watching_sees_every_outcome_once(self):
        ended, seen = threading.Event(), []

        def watch():
            for receipt in self.inbox.receipts.watch(stop=ended.is_set):
                seen.append(receipt)

        jobs = [intray.SaveJob.of_note(path, self.commit, content) for path, content in map(self.note, range(6))]
        self.hand_over(jobs)
        watcher = threading.Thread(target=watch)
        watcher.start()
        self.site.once()
        harness.wait_for("receipts", lambda: len(seen) == 6)
        ended.set()
        watcher.join()
        self.assertEqual({r.job_id for r in seen}, {job.job_id for job in jobs})
        self.assertEqual([r.__dict__ for r in seen], [{k: v for k, v in dict(row, file_name=None).items() if k != "receipt_version"} for row in self.site.receipts()])

    def test_a_job_of_the_other_kind_is_refused_before_it_is_sent(self):
        job = intray.DeleteJob.new(object_id="a", vault_path="/app/vault/a.md", expected_commit=self.commit, expected_provenance_hash="0" * 64,
                                   approval_id="33333333-4444-4555-a666-777777777777", delete_request_id="22222222-3333-4444-9555-666666666666")
        with self.assertRaises(intray.JobRefused) as caught:
            self.inbox.hand_over(job)
        self.assertEqual(caught.exception.reason, "UNKNOWN_JOB_TYPE")
        self.assertEqual(self.site.names("new"), [])


if __name__ == "__main__":
    harness.main()
