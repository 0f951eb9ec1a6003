"""The hand-over: each system call made to fail in turn, the process killed before each in turn, and the cases without any failure.

After each there is at most one copy of the job in new/, and what the caller was told is true.
"""
import contextlib
import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import intray
from intray import handoff, rename

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CALLS = ("open", "fchmod", "read", "write", "fsync", "close", "stat", "unlink")


def job(path="a.md"):
    return intray.SaveJob.of_note(path, COMMIT, b"hello\n")


class Faults:
    """Counts the hand-over's system calls; the `at`th one fails, before it does anything (`after` False) or after it did it."""

    def __init__(self, at, number=errno.EIO, after=False):
        self.at, self.number, self.after = at, number, after
        self.calls, self.failed = [], None
        self.lock = threading.Lock()

    def wrap(self, name, call):
        def counted(*args, **kwargs):
            with self.lock:
                self.calls.append(name)
                mine = len(self.calls)
            if mine != self.at:
                return call(*args, **kwargs)
            self.failed = name
            if self.after:
                call(*args, **kwargs)
            if self.number is None:
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(self.number, os.strerror(self.number))
        return counted

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        for name in CALLS:
            self.stack.enter_context(mock.patch.object(handoff.os, name, self.wrap(name, getattr(os, name))))
        self.stack.enter_context(mock.patch.object(handoff, "rename_noreplace", self.wrap("rename", rename.rename_noreplace)))
        return self

    def __exit__(self, *exception):
        self.stack.close()


class Box(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = folder.name
        for name in ("tmp", "new", "receipts"):
            os.mkdir(os.path.join(self.path, name))
        self.inbox = intray.Inbox(self.path)

    def names(self, folder):
        return sorted(os.listdir(os.path.join(self.path, folder)))

    def content(self, name):
        with open(os.path.join(self.path, "new", name), "rb") as file:
            return file.read()

    def clear(self):
        for folder in ("tmp", "new"):
            for name in self.names(folder):
                os.unlink(os.path.join(self.path, folder, name))


class HandOver(Box):
    def test_the_file_has_its_name_mode_and_bytes(self):
        a_job = job()
        old = os.umask(0o077)
        try:
            handed = self.inbox.hand_over(a_job)
        finally:
            os.umask(old)
        self.assertEqual((self.names("new"), self.names("tmp")), ([handed.name], []))
        self.assertRegex(handed.name, r"^[0-9]{16}\.%s\.json$" % a_job.job_id)
        self.assertEqual(self.content(handed.name), a_job.to_bytes())
        mode = os.stat(os.path.join(self.path, "new", handed.name)).st_mode
        self.assertEqual((stat.S_IFMT(mode), stat.S_IMODE(mode)), (stat.S_IFREG, 0o644))

    def test_the_order_is_that_of_the_protocol(self):
        with Faults(at=0) as calls:
            self.inbox.hand_over(job())
        self.assertEqual(calls.calls, ["open", "open", "open", "fchmod", "write", "fsync", "close", "rename", "fsync", "close", "close"])

    def test_twice_is_already_handed_over(self):
        a_job = job()
        self.inbox.hand_over(a_job)
        with Faults(at=0) as calls, self.assertRaises(intray.AlreadyHandedOver):
            self.inbox.hand_over(a_job)
        self.assertEqual(calls.calls[-8:], ["rename", "open", "read", "close", "unlink", "fsync", "close", "close"])  # as durable as the first
        self.assertEqual((len(self.names("new")), self.names("tmp")), (1, []))

    def test_only_these_very_bytes_in_new_are_the_job_handed_over(self):
        a_job = job()
        name = intray.handed_of(a_job, a_job.to_bytes()).name
        path = os.path.join(self.path, "new", name)

        def with_bytes(data):
            with open(path, "wb") as file:
                file.write(data)

        for make in (lambda: with_bytes(b"something else"), lambda: with_bytes(a_job.to_bytes()[:5]), lambda: with_bytes(a_job.to_bytes() + b" "),
                     lambda: os.symlink("/etc/passwd", path), lambda: os.mkfifo(path), lambda: os.mkdir(path)):
            make()
            with self.assertRaises(intray.NameTaken):
                self.inbox.hand_over(a_job)
            self.assertIsInstance(self.inbox.hand_over_all([a_job])[0].error, intray.NameTaken)
            self.assertEqual((self.names("new"), self.names("tmp")), ([name], []))
            os.rmdir(path) if os.path.isdir(path) else os.unlink(path)
        self.inbox.hand_over(a_job)

    def test_what_is_taken_between_the_rename_and_the_look_does_not_answer_for_the_job(self):
        a_job = job()
        name = intray.handed_of(a_job, a_job.to_bytes()).name
        path = os.path.join(self.path, "new", name)
        with open(path, "wb") as file:
            file.write(b"an earlier file")
        rename = handoff.rename_noreplace

        def taken_after(*args):
            try:
                rename(*args)
            except FileExistsError:
                os.unlink(path)
                raise

        with mock.patch.object(handoff, "rename_noreplace", taken_after):
            self.inbox.hand_over(a_job)
        self.assertEqual((self.content(name), self.names("tmp")), (a_job.to_bytes(), []))

    def test_a_refused_job_touches_nothing(self):
        with Faults(at=0) as calls, self.assertRaises(intray.JobRefused):
            self.inbox.hand_over(job("../a.md"))
        self.assertEqual(calls.calls, [])

    def test_a_leftover_of_another_attempt_is_no_obstacle(self):
        a_job = job()
        name = intray.handed_of(a_job, a_job.to_bytes()).name
        with open(os.path.join(self.path, "tmp", name), "wb") as file:
            file.write(b"half of")
        os.symlink("/etc/passwd", os.path.join(self.path, "tmp", name + ".2"))
        self.inbox.hand_over(a_job)
        self.assertEqual(self.content(name), a_job.to_bytes())
        self.assertEqual(self.names("tmp"), [name, name + ".2"])

    def test_short_writes_are_continued(self):
        a_job, write = job(), os.write
        with mock.patch.object(handoff.os, "write", lambda fd, data: write(fd, data[:7])):
            handed = self.inbox.hand_over(a_job)
        self.assertEqual(self.content(handed.name), a_job.to_bytes())

    def test_an_interrupt_before_the_rename_leaves_nothing(self):
        for name in ("fchmod", "write", "fsync"):
            with mock.patch.object(handoff.os, name, side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
                self.inbox.hand_over(job())
            self.assertEqual((self.names("new"), self.names("tmp")), ([], []))

    def test_no_inbox_is_not_accepted(self):
        with self.assertRaises(intray.NotAccepted):
            intray.Inbox(os.path.join(self.path, "nowhere")).hand_over(job())

    def test_of_many_at_once_one_wins(self):
        a_job, outcomes = job(), []

        def run():
            try:
                self.inbox.hand_over(a_job)
                outcomes.append("handed over")
            except intray.AlreadyHandedOver:
                outcomes.append("already")

        threads = [threading.Thread(target=run) for _ in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(outcomes), ["already"] * 11 + ["handed over"])
        self.assertEqual((len(self.names("new")), self.names("tmp")), (1, []))


class Rename(Box):
    def open(self, folder):
        fd = os.open(os.path.join(self.path, folder), os.O_RDONLY)
        self.addCleanup(os.close, fd)
        return fd

    def check(self, call):
        tmp, new = self.open("tmp"), self.open("new")
        for name in ("a", "b"):
            with open(os.path.join(self.path, "tmp", name), "w") as file:
                file.write(name)
        call(tmp, "a", new, "x")
        with self.assertRaises(FileExistsError):
            call(tmp, "b", new, "x")
        with self.assertRaises(FileNotFoundError):
            call(tmp, "c", new, "y")
        self.assertEqual((self.names("tmp"), self.names("new"), self.content("x")), (["b"], ["x"], b"a"))

    def test_it_replaces_nothing(self):
        self.check(rename.rename_noreplace)

    @unittest.skipUnless(os.uname().machine in rename._SYSCALL_NUMBERS, "another machine's numbers")
    def test_by_number_neither(self):
        libc = rename.ctypes.CDLL(None, use_errno=True)
        with mock.patch.object(rename, "_call", rename.by_number(libc, rename._SYSCALL_NUMBERS[os.uname().machine])):
            self.check(rename.rename_noreplace)

    def test_without_the_call_nothing_is_accepted_and_nothing_is_left(self):
        for stand_in in (None, lambda *_: rename.ctypes.set_errno(errno.EINVAL) or -1):
            with mock.patch.object(rename, "_call", stand_in), self.assertRaises(intray.NotAccepted):
                self.inbox.hand_over(job())
            self.assertEqual((self.names("new"), self.names("tmp")), ([], []))


class EveryFault(Box):
    def sweep(self, act, **fault):
        """Fails the 1st, 2nd, ... call until a run finishes untouched; yields what the caller was told, and the call that failed."""
        at = 0
        while True:
            at += 1
            self.clear()
            with Faults(at, **fault) as faults:
                told = act()
            yield told, faults.failed
            if faults.failed is None:
                return

    def judge(self, told, failed, after):
        where = (type(told).__name__, failed, after)
        copies = len(self.names("new"))
        self.assertLessEqual(copies, 1, where)
        if isinstance(told, intray.NotAccepted):
            self.assertEqual(copies, 0, where)
        elif isinstance(told, (intray.Handed, intray.AlreadyHandedOver)):
            self.assertEqual(copies, 1, where)
        else:
            self.assertIsInstance(told, intray.OutcomeUnknown, where)
            self.assertIn(failed, ("fsync", "rename"), where)
        # What is left in tmp/ is never more than the one file; only a call that did its work, or a failed clean-up, leaves it.
        self.assertLessEqual(len(self.names("tmp")), 1 if failed in ("unlink", "open") else 0, where)

    def one(self, a_job):
        try:
            return self.inbox.hand_over(a_job)
        except intray.HandOffError as error:
            return error

    def test_a_first_hand_over(self):
        told = set()
        for number in (errno.EIO, errno.ENOSPC, errno.EACCES):
            for after in (False, True):
                a_job = job()
                for outcome, failed in self.sweep(lambda: self.one(a_job), number=number, after=after):
                    self.judge(outcome, failed, after)
                    told.add((type(outcome).__name__, failed))
        self.assertLessEqual({("NotAccepted", "open"), ("NotAccepted", "fchmod"), ("NotAccepted", "write"), ("NotAccepted", "fsync"), ("NotAccepted", "rename"),
                              ("OutcomeUnknown", "rename"), ("OutcomeUnknown", "fsync"), ("Handed", "close"), ("Handed", None)}, told)

    def test_a_second_hand_over(self):
        a_job = job()

        def twice():
            with contextlib.ExitStack() as untouched:
                for name in CALLS:
                    untouched.enter_context(mock.patch.object(handoff.os, name, REAL[name]))
                untouched.enter_context(mock.patch.object(handoff, "rename_noreplace", rename.rename_noreplace))
                self.inbox.hand_over(a_job)
            return self.one(a_job)

        for after in (False, True):
            for outcome, failed in self.sweep(twice, after=after):
                self.assertEqual(len(self.names("new")), 1)
                if failed is None:
                    self.assertIsInstance(outcome, intray.AlreadyHandedOver)

    def test_the_same_again_heals_every_failure(self):
        a_job = job()
        for after in (False, True):
            for outcome, failed in self.sweep(lambda: self.one(a_job), after=after):
                again = self.one(a_job)
                self.assertIsInstance(again, (intray.Handed, intray.AlreadyHandedOver), failed)
                self.assertEqual(self.names("new"), [again.name])
                self.assertEqual(self.content(again.name), a_job.to_bytes())

    def test_a_batch(self):
        jobs = [job("a.md"), job("../b.md"), job("c.md")]
        for after in (False, True):
            for attempts, failed in self.sweep(lambda: self.inbox.hand_over_all(jobs), after=after):
                self.assertEqual(len(attempts), 3)
                self.assertIsInstance(attempts[1].error, intray.JobRefused)
                new = self.names("new")
                for attempt in (attempts[0], attempts[2]):
                    if isinstance(attempt.error, intray.NotAccepted):
                        self.assertNotIn(attempt.handed.name, new, failed)
                    elif attempt.error is None:
                        self.assertIn(attempt.handed.name, new, failed)
                    else:
                        self.assertIsInstance(attempt.error, intray.OutcomeUnknown, failed)
                        self.assertIn(failed, ("fsync", "rename"))


REAL = {name: getattr(os, name) for name in CALLS}


class Batch(Box):
    def test_many_with_one_sync_of_the_directory(self):
        jobs = [job("%d.md" % i) for i in range(300)]  # more than are open at a time
        with Faults(at=0) as calls:
            attempts = self.inbox.hand_over_all(jobs + jobs[:2])
        self.assertEqual([type(a.error) for a in attempts], [type(None)] * 300 + [intray.AlreadyHandedOver] * 2)
        self.assertEqual(calls.calls.count("fsync"), 302 + 1)
        self.assertEqual((self.names("new"), self.names("tmp")), (sorted(a.handed.name for a in attempts[:300]), []))

    def test_an_unknown_directory_sync_makes_every_renamed_one_unknown(self):
        jobs = [job("%d.md" % i) for i in range(3)]
        with Faults(at=0) as counted:
            self.inbox.hand_over_all(jobs)
        self.clear()
        last_sync = len(counted.calls) - counted.calls[::-1].index("fsync")
        with Faults(at=last_sync):
            attempts = self.inbox.hand_over_all(jobs)
        self.assertEqual([type(a.error) for a in attempts], [intray.OutcomeUnknown] * 3)

    def test_nothing_to_do_syncs_nothing(self):
        with Faults(at=0) as calls:
            self.assertEqual(self.inbox.hand_over_all([]), [])
        self.assertNotIn("fsync", calls.calls)


class Killed(Box):
    CHILD = """
import sys, handoff_test, intray
job = intray.parse_save(sys.stdin.buffer.read())
with handoff_test.Faults(int(sys.argv[2]), number=None, after=sys.argv[3] == "after"):
    intray.Inbox(sys.argv[1]).hand_over(job)
    print("handed over", flush=True)
"""

    def test_before_and_after_each_call_one_copy_at_most_and_the_same_again_is_enough(self):
        points = 0
        for when in ("before", "after"):
            for at in range(1, 30):
                self.clear()
                a_job = job()
                done = subprocess.run([sys.executable, "-c", self.CHILD, self.path, str(at), when], input=a_job.to_bytes(), stdout=subprocess.PIPE,
                                      cwd=os.path.dirname(os.path.abspath(__file__)), check=False)
                if done.returncode == 0:
                    break
                self.assertEqual(done.returncode, -signal.SIGKILL)
                points += 1
                copies = self.names("new")
                self.assertLessEqual(len(copies) + len(self.names("tmp")), 1)
                if done.stdout:
                    self.assertEqual(len(copies), 1)
                try:
                    handed = self.inbox.hand_over(a_job)
                    self.assertEqual(copies, [])
                except intray.AlreadyHandedOver as error:
                    handed = error
                    self.assertEqual(len(copies), 1)
                self.assertEqual(self.names("new"), [handed.name])
                self.assertEqual(self.content(handed.name), a_job.to_bytes())
        self.assertEqual(points, 22)  # the 11 calls of test_the_order_is_that_of_the_protocol, before and after


if __name__ == "__main__":
    unittest.main(verbosity=2)
