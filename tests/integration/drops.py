"""What the tests of hostile drops share: an executor beside which anything may be put into new/, and a look at all that it said."""
import json
import os
import re
import shutil
import signal
import sqlite3
import stat
import time
import uuid

from harness import AS_ROOT, GID, UID, SiteTest, canonical, own, wait_for

SENTINEL = "SENTINEL-" + uuid.uuid4().hex  # in files that are none of a requester's
OTHER_UID, SECOND_UID = 64_801, 64_802
GOOD_WITHIN_SECONDS = 20  # on a busy machine; undisturbed it takes a tenth of one
# C0 without newline, DEL, C1, and what turns text around or hides it.
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def valid_name():
    return b"%016d.%s.json" % (time.time_ns() // 1000, str(uuid.uuid4()).encode())


def give(path, uid=UID):
    if AS_ROOT:
        os.chown(path, uid, GID, follow_symlinks=False)


class AsUser:
    """A function in a process of its own, of another user where we are root. Its result is what it returns, by way of JSON."""

    def __init__(self, uid, function, *args):
        reading, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                os.close(reading)
                if AS_ROOT:
                    os.setgroups([])
                    os.setgid(GID)
                    os.setuid(uid)
                with os.fdopen(writing, "w") as out:
                    json.dump(function(*args), out)
                code = 0
            finally:
                os._exit(code)
        os.close(writing)
        self.reading, self.status = reading, None

    def runs(self):
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.status = status if pid else None
        return self.status is None

    def result(self):
        with os.fdopen(self.reading) as answer:
            text = answer.read()
        if self.runs():
            self.status = os.waitpid(self.pid, 0)[1]
        if self.status != 0:
            raise AssertionError("the other process ended with %d" % self.status)
        return json.loads(text)

    def kill(self):
        if self.runs():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


class DropTest(SiteTest):
    settings = {"inbox.scan_interval": '"300ms"'}

    def prepare(self, *args, **settings):
        for name in ("good.md", "other.md", *("note-%d.md" % i for i in range(20))):
            self.repo.write(name, "good\n")
        self.commit = self.repo.commit()
        self.start_receiver()
        self.make_site(**settings)
        self.new = os.fsencode(self.site.place("new"))
        self.tmp = os.fsencode(self.site.place("tmp"))
        self.secret = os.path.join(self.home, "secret")
        with open(self.secret, "w") as file:
            file.write(SENTINEL)
        os.chmod(self.secret, 0o600)
        own(self.secret)
        self.environment = dict(os.environ, INTRAY_TEST_SENTINEL=SENTINEL)

    def start(self):
        self.child = self.site.executor(env=self.environment)
        self.running.append(self.child)
        wait_for("ready", lambda: "ready" in self.site.log())

    def put(self, name, data=b"x", uid=UID, mode=0o644, size=None):
        """A file by rename, as the protocol has it, whatever it holds."""
        path = os.path.join(self.tmp, b"drop-%d" % time.time_ns())
        with open(path, "wb") as file:
            file.write(data)
            if size is not None:
                file.truncate(size)
        give(path, uid)
        os.chmod(path, mode)
        os.rename(path, os.path.join(self.new, name))

    def good_job(self, uid=UID, path="good.md"):
        job = self.site.job(self.commit, path, b"good\n")
        self.put(b"%016d.%s.json" % (time.time_ns() // 1000, job["job_id"].encode()), canonical(job), uid)
        return job["job_id"]

    def wait_good(self, job_id):
        wait_for("the good job", lambda: self.site.outcome(job_id) or self.child.poll() is not None, GOOD_WITHIN_SECONDS)
        self.assertIsNone(self.child.poll(), self.site.log()[-2000:])
        self.assertEqual(self.site.outcome(job_id)[0], "SUCCEEDED")

    def ledger_rows(self, statement):
        """Of a copy, so that nothing is disturbed; only where no executor runs."""
        copy = os.path.join(self.home, "ledger-copy")
        shutil.copytree(self.site.place("ledger"), copy)
        try:
            with sqlite3.connect(os.path.join(copy, "ledger.db")) as db:
                return db.execute(statement).fetchall()
        finally:
            shutil.rmtree(copy)

    def everything_said(self):
        """All that the product wrote anywhere for people to read: the executor has been stopped."""
        said = [("log of the executor", self.site.log())]
        for args in (("ls", "-a"), ("ls", "-a", "-l"), ("log",), ("ls", "-a", "--json"), ("log", "--json")):
            done = self.site.intray(*args)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            said.append((" ".join(args), done.stdout + done.stderr))
        for receipt in self.site.receipts():
            if receipt["job_id"]:
                done = self.site.intray("show", receipt["job_id"])
                said.append(("show", done.stdout + done.stderr))
        for name in self.site.names("receipts"):
            with open(self.site.place("receipts", name), "rb") as file:
                said.append(("receipts", file.read().decode("utf-8")))
        said.append(("files of the ledger", json.dumps(self.ledger_rows("SELECT name, detail, reason FROM files"))))
        said.append(("audit", json.dumps(self.ledger_rows("SELECT event, detail FROM audit"), ensure_ascii=False)))
        return said

    def check_said(self):
        for where, text in self.everything_said():
            self.assertNotIn(SENTINEL, text, where)
            found = RAW.search(text)
            self.assertIsNone(found, "%s: raw %r near %r" % (where, found and found.group(), found and text[max(0, found.start() - 60) : found.end() + 20]))
        with open(self.secret) as file:
            self.assertEqual(file.read(), SENTINEL)
        self.assertEqual(stat.S_IMODE(os.stat(self.secret).st_mode), 0o600)

    def rejections(self):
        return [r for r in self.site.receipts() if r["state"] == "REJECTED"]
