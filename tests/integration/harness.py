"""Real parts for tests through the real binaries: a git repository, a site in user mode, the reference receiver, the
executor, and the receiver's request log as the outside truth.

The programs' folder comes in INTRAY_BIN (one folder a program, as Meson builds them). Executors refuse to run as root, so
started by root every process of a test runs as `nobody`.
"""
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import uuid

BIN = os.environ["INTRAY_BIN"]
VAULT_ROOT = "/app/vault"
AS_ROOT = os.geteuid() == 0
UID = 65534 if AS_ROOT else os.getuid()
GID = 65534 if AS_ROOT else os.getgid()
IDS = {"user": UID, "group": GID, "extra_groups": []} if AS_ROOT else {}


def program(name):
    return os.path.join(BIN, name, name)


def is_sanitized():
    with open(program("intray-save"), "rb") as binary:
        return b"__asan_init" in binary.read()


SANITIZED = is_sanitized()


def own(path):
    if not AS_ROOT:
        return
    os.chown(path, UID, GID, follow_symlinks=False)
    for folder, folders, files in os.walk(path):
        for name in folders + files:
            os.chown(os.path.join(folder, name), UID, GID, follow_symlinks=False)


def canonical(value):
    """RFC 8785 for what jobs hold: ASCII member names, strings and integers."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def wait_for(what, condition, timeout=30.0):
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError("waited %g s in vain for: %s" % (timeout, what))


class Repo:
    """A work tree with a bare clone that serves as the mirror."""

    def __init__(self, home):
        self.work = os.path.join(home, "work")
        self.mirror = os.path.join(home, "mirror.git")
        self.env = dict(os.environ, GIT_AUTHOR_NAME="T", GIT_AUTHOR_EMAIL="t@example.org", GIT_COMMITTER_NAME="T",
                        GIT_COMMITTER_EMAIL="t@example.org", GIT_CONFIG_GLOBAL=os.path.join(home, "gitconfig"))
        with open(self.env["GIT_CONFIG_GLOBAL"], "w") as config:  # the mirror belongs to the executor's user, not to us
            config.write("[safe]\n\tdirectory = *\n")
        self.git("init", "--quiet", "--initial-branch=main", self.work, cwd=home)
        self.git("init", "--quiet", "--bare", "--initial-branch=main", self.mirror, cwd=home)

    def git(self, *args, cwd=None):
        return subprocess.run(["git", *args], cwd=cwd or self.work, env=self.env, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout.decode().strip()

    def write(self, path, content):
        full = os.path.join(self.work, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    def commit(self, message="c", push=True):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)
        if push:
            self.push()
        return self.git("rev-parse", "HEAD")

    def push(self):
        self.git("push", "--quiet", "--force", self.mirror, "HEAD:refs/heads/main")
        own(self.mirror)

    def notes(self, count, size=40):
        for i in range(count):
            self.write("notes/%02d/note %04d – ü.md" % (i % 7, i), "# Note %d\n%s\n" % (i, "x" * size))
        return self.commit()


class Receiver:
    def __init__(self, home, credential, port=0, faults=(), extra=()):
        self.stored = os.path.join(home, "stored")
        self.log_path = os.path.join(home, "requests.jsonl")
        self.fault_file = os.path.join(home, "faults")
        if not os.path.exists(self.stored):
            os.makedirs(self.stored)
            own(self.stored)
        if not os.path.exists(self.fault_file):
            open(self.fault_file, "w").close()
        command = [program("vault-receiver"), "--dir", self.stored, "--vault-root", VAULT_ROOT, "--credential-file", credential, "--log",
                   self.log_path, "--listen", "127.0.0.1:%d" % port, "--die-with-parent", "--fault-file", self.fault_file]
        for fault in faults:
            command += ["--fault", fault]
        self.process = subprocess.Popen(command + list(extra), stdout=subprocess.PIPE, text=True, cwd=home, **IDS)
        line = self.process.stdout.readline()
        if "listening on" not in line:
            raise AssertionError("the receiver did not start: %r" % line)
        self.port = int(line.strip().rsplit(":", 1)[1])

    def faults(self, *specs):
        with open(self.fault_file + ".new", "w") as file:
            file.write("".join(s + "\n" for s in specs))
        own(self.fault_file + ".new")
        os.rename(self.fault_file + ".new", self.fault_file)
        time.sleep(0.15)

    def requests(self, event=None, target=None):
        rows = []
        if os.path.exists(self.log_path):
            with open(self.log_path, encoding="utf-8") as lines:
                rows = [json.loads(line) for line in lines if line.endswith("\n")]
        return [r for r in rows if (event is None or r["event"] == event) and (target is None or r["target"] == target)]

    def saves_received(self):
        return self.requests("received", "/api/vault/save")

    def saves_applied(self):
        return self.requests("applied", "/api/vault/save")

    def content(self, path):
        try:
            with open(os.path.join(self.stored, path), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def files(self):
        found = []
        for folder, folders, names in os.walk(self.stored):
            folders[:] = [f for f in folders if f != ".vault-receiver-tmp"]
            found += [os.path.relpath(os.path.join(folder, n), self.stored) for n in names]
        return sorted(found)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=20)
        self.process.stdout.close()


class Site:
    """One site in user mode under one directory."""

    def __init__(self, home, repo, port, settings=None):
        self.home, self.repo = home, repo
        self.root = os.path.join(home, "site")
        self.credential = os.path.join(home, "credential")
        self.config = os.path.join(self.root, "etc", "save.toml")
        done = subprocess.run([program("intray"), "init", "--user-mode", "--root", self.root, "--receiver", "http://127.0.0.1:%d" % port,
                               "--credential", self.credential, "--mirror", repo.mirror, "--branch", "main"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=home, **IDS)
        if done.returncode != 0:
            raise AssertionError("intray init: " + done.stderr)
        self.set({"connector.program": '"%s"' % program("intray-connector"), "lease.time_to_live": '"2s"', "lease.renewal": '"500ms"', "lease.grant": '"1s"', "breaker.probe": '"300ms"', "receiver.settle": '"1s"',
                  "retry.first_wait": '"100ms"', "verify.deadline": '"2s"', "receiver.total_timeout": '"5s"', **(settings or {})})

    def set(self, values):
        """Sets TOML keys, given as "section.key": the line's value, wherever the commented file has them."""
        with open(self.config, encoding="utf-8") as file:
            lines = file.read().split("\n")
        for dotted, value in values.items():
            section, _, key = dotted.rpartition(".")
            lines = self._set_one(lines, section, key, value)
        with open(self.config, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        own(self.config)

    @staticmethod
    def _set_one(lines, section, key, value):
        out, current, done = [], "", False
        for line in lines:
            head = re.match(r"\s*\[([\w.-]+)\]\s*$", line)
            if head:
                if current == section and not done:
                    out.append("%s = %s" % (key, value))
                    done = True
                current = head.group(1)
            elif current == section and not done and re.match(r"\s*%s\s*=" % re.escape(key), line):
                out.append("%s = %s" % (key, value))
                done = True
                continue
            out.append(line)
        if not done:
            if current != section:
                if section:
                    out.append("[%s]" % section)
                else:
                    out.insert(0, "%s = %s" % (key, value))
                    return out
            out.append("%s = %s" % (key, value))
        return out

    def place(self, *parts):
        return os.path.join(self.root, "save", *parts)

    def names(self, folder):
        return sorted(os.listdir(self.place(folder)))

    def intray(self, *args, check=None, **kwargs):
        command, rest = args[0], args[1:]
        done = subprocess.run([program("intray"), command, *rest, "--root", self.root], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, cwd=self.home, env=dict(os.environ, NO_COLOR="1"), **IDS, **kwargs)
        if check is not None and done.returncode != check:
            raise AssertionError("intray %s ended with %d\n%s%s" % (" ".join(args), done.returncode, done.stdout, done.stderr))
        return done

    def submit_all(self, commit, *extra):
        done = self.intray("submit", "save", "--repo", self.repo.mirror, "--commit", commit, "--all", "--batch", *extra)
        if done.returncode not in (0, 1):
            raise AssertionError("submit: " + done.stderr)
        return done.stdout.split()

    def submit_path(self, commit, path, *extra):
        done = self.intray("submit", "save", "--repo", self.repo.mirror, "--commit", commit, "--path", path, *extra)
        if done.returncode != 0:
            raise AssertionError("submit: " + done.stderr)
        return done.stdout.strip()

    def job(self, commit, path, content, **changes):
        """A SAVE job as a requester without our tools would build it."""
        repository_path = path
        digest = hashlib.sha256(content).hexdigest()
        object_id = "p-" + hashlib.sha256(repository_path.encode()).hexdigest()[:32]
        provenance = canonical({"commit": commit, "content_sha256": digest, "object_id": object_id, "path": repository_path,
                                "state": "UNSET", "version": 1})
        job = {"job_version": 1, "job_id": str(uuid.uuid4()), "mission_id": str(uuid.uuid4()), "job_type": "C5_SAVE_OBJECT",
               "object_id": object_id, "vault_path": VAULT_ROOT + "/" + path, "source_commit": commit,
               "provenance_hash": hashlib.sha256(provenance).hexdigest(), "expected_state": "UNSET",
               "created_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "idempotency_key": str(uuid.uuid4())}
        job.update(changes)
        return job

    def drop(self, job, name=None):
        """Hands a job (or raw bytes) over by rename, without any durability."""
        data = job if isinstance(job, bytes) else canonical(job)
        if name is None:
            job_id = job["job_id"] if isinstance(job, dict) else str(uuid.uuid4())
            name = "%016d.%s.json" % (time.time_ns() // 1000, job_id)
        with open(self.place("tmp", name), "wb") as file:
            file.write(data)
        own(self.place("tmp", name))
        os.rename(self.place("tmp", name), self.place("new", name))
        return name

    def executor(self, *args, **kwargs):
        self.log_path = os.path.join(self.home, "intray-save.log")
        log = open(self.log_path, "a", encoding="utf-8")
        child = subprocess.Popen([program("intray-save"), "--config", self.config, *args], stderr=log, cwd=self.home, **IDS, **kwargs)
        log.close()
        return child

    def once(self, timeout=120, code=0):
        child = self.executor("--once")
        try:
            child.wait(timeout=timeout)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            raise AssertionError("intray-save --once did not end in %d s\n%s" % (timeout, self.log()[-3000:]))
        if code is not None and child.returncode != code:
            raise AssertionError("intray-save --once ended with %s\n%s" % (child.returncode, self.log()[-3000:]))
        return child.returncode

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def receipts(self):
        """Every receipt line, in file order."""
        rows = []
        for name in self.names("receipts"):
            with open(self.place("receipts", name), encoding="utf-8") as lines:
                rows += [json.loads(line) for line in lines if line.strip()]
        return rows

    def receipt(self, job_id):
        """The receipt that counts for this job: the one with the highest audit_seq."""
        rows = [r for r in self.receipts() if r["job_id"] == job_id]
        return max(rows, key=lambda r: r["audit_seq"]) if rows else None

    def outcome(self, job_id):
        receipt = self.receipt(job_id)
        return (receipt["state"], receipt["reason"], receipt["result"]) if receipt else None


class SiteTest(unittest.TestCase):
    """A fresh repository, receiver and site for each test."""

    settings = {}

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="intray-test-")
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        os.chmod(self.home, 0o755)
        own(self.home)
        self.repo = Repo(self.home)
        self.credential = os.path.join(self.home, "credential")
        with open(self.credential, "w") as file:
            file.write("sentinel-%s\n" % uuid.uuid4().hex)
        os.chmod(self.credential, 0o400)
        own(self.credential)
        self.receiver = None
        self.running = []

    def tearDown(self):
        for child in self.running:
            if child.poll() is None:
                child.kill()
            child.wait()
        if self.receiver:
            self.receiver.stop()

    def start_receiver(self, port=0, **kwargs):
        self.receiver = Receiver(self.home, self.credential, port, **kwargs)
        return self.receiver

    def make_site(self, port=None, **settings):
        if port is None:
            port = self.receiver.port if self.receiver else free_port()
        self.port = port
        self.site = Site(self.home, self.repo, port, {**self.settings, **settings})
        return self.site

    def run_executor(self, *args):
        child = self.site.executor(*args)
        self.running.append(child)
        return child

    def stop(self, child, number=signal.SIGTERM, timeout=30):
        child.send_signal(number)
        return child.wait(timeout=timeout)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    unittest.main(verbosity=2)
