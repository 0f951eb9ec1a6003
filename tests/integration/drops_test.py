#!/usr/bin/python3
"""Hostile drops, through the real binaries: what a requester may put into new/ besides honest jobs, and what it may do meanwhile.

Whatever it is, the executor lives and is not held up (a good job handed over at the same time succeeds within seconds), nothing that is not
a requester's is read, no output carries its bytes or a raw control byte, and each thing leaves the receipt or the line of the audit that it should.
"""
import os
import socket
import stat
import time
import unittest

import harness
from drops import OTHER_UID, SENTINEL, AsUser, DropTest, give, valid_name
from harness import AS_ROOT, UID, canonical, own, wait_for


class Table(DropTest):
    """One executor, one thing after the other, each beside a good job."""

    def strays(self):
        """What is no regular file: removed, with a line in the audit; no receipt is owed."""

        def at(name):
            return os.path.join(self.new, name)

        def link(target):
            return lambda name: os.symlink(target, at(name))

        def bound_socket(name):
            short = os.path.join(self.home, "s")
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(short)
            os.rename(short, at(name))

        yield "fifo", lambda name: os.mkfifo(at(name), 0o666), "fifo"
        yield "socket", bound_socket, "socket"
        yield "symlink to a file", link(self.secret), "symlink"
        yield "symlink to a directory", link(self.home), "symlink"
        yield "symlink to the ledger", link(self.site.place("ledger", "ledger.db")), "symlink"
        yield "dangling symlink", link("/nowhere"), "symlink"
        yield "symlink to itself", lambda name: os.symlink(name, at(name)), "symlink"
        yield "symlink to standard input", link("/proc/self/fd/0"), "symlink"
        yield "symlink to the environment", link("/proc/self/environ"), "symlink"
        if AS_ROOT:
            try:
                os.mknod(os.path.join(self.home, "probe"), stat.S_IFCHR | 0o666, os.makedev(1, 5))
            except OSError:
                return  # no devices in this container
            yield "device /dev/zero", lambda name: os.mknod(at(name), stat.S_IFCHR | 0o666, os.makedev(1, 5)), "device"

    def files(self):
        """What is a regular file: taken, and rejected with a receipt."""
        job = self.site.job(self.commit, "good.md", b"good\n")
        raw = canonical(job)
        named = b"%016d.%s.json" % (1_796_044_522_000_000, job["job_id"].encode())

        def put(data, name=None, **kwargs):
            return lambda given: self.put(name or given, data, **kwargs)

        def created(name):
            with open(os.path.join(self.new, name), "xb") as file:
                file.write(b"plainly made, without a rename")
            give(os.path.join(self.new, name))

        def still_written(name):
            self.open_ends.append(open(os.path.join(self.tmp, b"w"), "wb", buffering=0))
            give(os.path.join(self.tmp, b"w"))
            self.open_ends[-1].write(b'{"approval')
            os.rename(os.path.join(self.tmp, b"w"), os.path.join(self.new, name))

        yield "nothing in it", put(b""), "EMPTY_FILE"
        yield "one byte too many", put(b"x" * (16 * 1024 + 1)), "OVERSIZED"
        yield "sparse, 10 GiB", put(b"x", size=10 << 30), "OVERSIZED"
        yield "zeros, as a hole", put(b"", size=4096), "MALFORMED_JSON"
        yield "hard link to a secret", lambda name: os.link(self.secret, os.path.join(self.new, name)), "BAD_FILE_TYPE"
        yield "garbage", put(bytes(range(256))), "MALFORMED_JSON"
        yield "16 KiB of [", put(b"[" * 16 * 1024), "MALFORMED_JSON"
        yield "half a job", put(raw[: len(raw) // 2]), "MALFORMED_JSON"
        yield "a newline behind it", put(raw + b"\n"), "NOT_CANONICAL"
        yield "a byte order mark", put(b"\xef\xbb\xbf" + raw), "MALFORMED_JSON"
        yield "1.0 for 1", put(raw.replace(b'"job_version":1', b'"job_version":1.0')), "NOT_CANONICAL"
        yield "a member twice", put(raw[:-1] + b',"vault_path":"/app/vault/x.md"}'), "NOT_CANONICAL"
        yield "another's id in the name", put(raw), "BAD_FILE_NAME"
        yield "still being written", still_written, "MALFORMED_JSON"
        yield "a plain create", created, "MALFORMED_JSON"
        yield "mode 0000", put(raw, mode=0), "UNREADABLE_FILE"
        if AS_ROOT:
            yield "a stranger's", put(raw, uid=OTHER_UID), "BAD_FILE_OWNER"
            yield "root's own", put(raw, uid=0), "BAD_FILE_OWNER"
        for what, bad in (
            ("newline", b"a\nfake log line: job_ended.json"),
            ("escape sequences", b"\x1b]0;title\x07\x1b[31m\x1b[2J.json"),
            ("invalid UTF-8", b"\xff\xfe\xc3.json"),
            ("C1", "\u009b31m.json".encode()),
            ("255 bytes", b"n" * 255),
            ("leading dashes", b"--help"),
            ("an option", b"-rf"),
            ("a dot", b".hidden.json"),
            ("three dots", b"..."),
            ("format directives", b"%s%n%x{}{0}.json"),
            ("right-to-left override", "\u202egnp.nosj".encode()),
            ("zero width", "a\u200bb.json".encode()),
            ("a quote", b"' OR 1=1; --\".json"),
            ("a shell", b"$(reboot)`id`;&|.json"),
            ("a blank", b" .json "),
            ("a name of the lease", b"1.0." + named),
            ("a name of the end", named + b":2,APPLIED"),
            ("almost a self-test's", b".self-test.0x"),
        ):
            yield "name: " + what, put(raw, name=bad), "BAD_FILE_NAME"

    def test_each_of_them(self):
        self.prepare()
        self.open_ends = []
        self.start()
        audited = 0
        for what, make, kind in self.strays():
            audited += 1
            with self.subTest(what):
                name = valid_name()
                before = self.site.log().count("what=" + kind)
                make(name)
                if os.path.lexists(os.path.join(self.new, name)):
                    try:
                        give(os.path.join(self.new, name))
                    except FileNotFoundError:
                        pass
                self.wait_good(self.good_job())
                wait_for(what, lambda: self.site.log().count("what=" + kind) > before)
                self.assertFalse(os.path.lexists(os.path.join(self.new, name)))
        self.assertEqual(self.rejections(), [])
        for what, make, reason in self.files():
            with self.subTest(what):
                before = len(self.rejections())
                make(valid_name())
                self.wait_good(self.good_job())
                wait_for(what, lambda: len(self.rejections()) > before)
                self.assertEqual([r["reason"] for r in self.rejections()[before:]], [reason])
        # A descriptor that was kept open reaches nothing that counts any more.
        for file in self.open_ends:
            file.write(SENTINEL.encode())
            file.close()
        self.wait_good(self.good_job())
        self.assertEqual(self.site.names("new"), [])
        self.assertEqual([os.listdir(self.site.place("lease", n)) for n in os.listdir(self.site.place("lease")) if os.path.isdir(self.site.place("lease", n))], [[]])
        self.assertEqual(len(self.site.names("rejected")), len(self.rejections()))
        self.assertEqual(self.stop(self.child), 0)
        strays = self.ledger_rows("SELECT detail FROM audit WHERE event = 'STRAY'")
        self.assertEqual(len(strays), audited, strays)
        self.assertTrue(all("BAD_FILE_TYPE" in row[0] for row in strays))
        self.assertEqual(len(self.ledger_rows("SELECT 1 FROM files")), len(self.rejections()))
        self.check_said()
        self.assertEqual(len(self.receiver.files()), 1)

    def test_directories_stay_are_said_once_and_hide_nobody(self):
        self.prepare()
        self.start()
        name = valid_name()
        empty, full = os.path.join(self.new, name), os.path.join(self.new, b"d")
        os.mkdir(empty, 0o777)
        give(empty)
        os.mkdir(os.path.join(self.tmp, b"d"), 0o700)
        with open(os.path.join(self.tmp, b"d", b"inside"), "w") as file:
            file.write(SENTINEL)
        give(os.path.join(self.tmp, b"d"), OTHER_UID)
        os.rename(os.path.join(self.tmp, b"d"), full)
        self.wait_good(self.good_job())
        wait_for("both are said", lambda: self.site.log().count("what=directory") == 2)
        time.sleep(1)  # several scans later nothing more was said
        self.wait_good(self.good_job())
        self.assertEqual(self.site.log().count("what=directory"), 2)
        self.assertTrue(os.path.isdir(empty) and os.path.exists(os.path.join(full, b"inside")))
        self.assertEqual(self.stop(self.child), 0)
        self.assertEqual(len(self.ledger_rows("SELECT 1 FROM audit WHERE event = 'STRAY'")), 2)
        self.check_said()

    @unittest.skipUnless(AS_ROOT, "only root can switch fs.protected_hardlinks off")
    def test_a_hard_link_that_the_kernel_let_an_attacker_make(self):
        switch = "/proc/sys/fs/protected_hardlinks"
        with open(switch) as file:
            before = file.read()
        try:
            with open(switch, "w") as file:
                file.write("0")
        except OSError:
            self.skipTest("fs.protected_hardlinks can't be changed here")
        try:
            self.prepare(**{"requesters.uids": "[%d, %d]" % (UID, OTHER_UID)})
            opened = [self.site.root, self.site.place(), self.new]
            modes = [stat.S_IMODE(os.stat(place).st_mode) for place in opened]
            for place in opened:
                os.chmod(place, 0o1777)
            AsUser(OTHER_UID, os.link, self.secret, os.path.join(self.new, valid_name())).result()
            for place, mode in zip(opened, modes):
                os.chmod(place, mode)
        finally:
            with open(switch, "w") as file:
                file.write(before)
        self.start()
        self.wait_good(self.good_job())
        wait_for("its receipt", self.rejections)
        self.assertEqual(self.rejections()[0]["reason"], "BAD_FILE_TYPE")
        self.assertEqual(self.stop(self.child), 0)
        self.check_said()

    def test_a_descriptor_kept_open_and_written_to_changes_nothing_that_was_admitted(self):
        self.prepare()
        self.start()
        job = self.site.job(self.commit, "good.md", b"good\n")
        name = b"%016d.%s.json" % (time.time_ns() // 1000, job["job_id"].encode())
        path = os.path.join(self.tmp, name)
        with open(path, "w+b", buffering=0) as still_open:
            still_open.write(canonical(job))
            give(path)
            os.rename(path, os.path.join(self.new, name))
            self.wait_good(job["job_id"])
            still_open.seek(0)
            still_open.write(SENTINEL.encode() * 100)
        self.wait_good(self.good_job())
        self.assertEqual(self.stop(self.child), 0)
        stored = self.ledger_rows("SELECT bytes FROM job_bodies ORDER BY seq")
        self.assertEqual(stored[0][0], canonical(job))
        self.check_said()


if __name__ == "__main__":
    harness.main()
