"""A machine of its own for tests about users: a private mount namespace with its own /etc and /run, in which the users and
groups of a site exist. Root only; nothing of the real machine changes.
"""
import grp
import os
import pwd
import shutil
import subprocess
import tempfile
import unittest

from harness import program

SAVE, CONNECTOR, MIRROR, REQUESTER, ADMIN, AGENT, GUEST = 7001, 7002, 7003, 7004, 7005, 65534, 7006
ADMIN_GROUP = 7010
USERS = {"root": (0, 0), "intray-save": (SAVE, SAVE), "intray-save-connector": (CONNECTOR, CONNECTOR), "intray-mirror": (MIRROR, MIRROR),
         "intray-rq": (REQUESTER, REQUESTER), "anna": (ADMIN, ADMIN), "guest": (GUEST, GUEST), "nobody": (AGENT, AGENT)}
GROUPS = {"root": (0, []), "intray-save": (SAVE, []), "intray-save-connector": (CONNECTOR, []), "intray-mirror": (MIRROR, ["intray-save"]),
          "intray-rq": (REQUESTER, ["anna"]), "anna": (ADMIN, []), "guest": (GUEST, []), "nogroup": (AGENT, []),
          "intray-adm": (ADMIN_GROUP, ["anna"])}


def why_not():
    """Why such a machine can't be made here; None if it can."""
    if os.geteuid() != 0:
        return "needs root, to become each user"
    for tool in ("unshare", "nsenter", "setpriv"):
        if not shutil.which(tool):
            return "needs " + tool
    if subprocess.run(["unshare", "--mount", "--propagation", "private", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        return "needs the right to make a mount namespace"
    for number in (SAVE, CONNECTOR, MIRROR, REQUESTER, ADMIN, GUEST):
        try:
            return "uid %d is taken by %s" % (number, pwd.getpwuid(number).pw_name)
        except KeyError:
            pass
        try:
            return "gid %d is taken by %s" % (number, grp.getgrgid(number).gr_name)
        except KeyError:
            pass
    return None


def snapshot(*roots):
    """Every name below, with owner and mode: what must be left as it was."""
    found = {}
    for root in roots:
        for folder, folders, files in os.walk(root):
            for name in [".", *folders, *files]:
                info = os.lstat(os.path.join(folder, name))
                found[os.path.join(folder, name)] = (info.st_mode, info.st_uid, info.st_gid, info.st_size)
    return found


class Machine:
    def __init__(self, home):
        self.home = home
        self.etc, self.run_dir = os.path.join(home, "etc"), os.path.join(home, "run")
        for folder in (self.etc, self.run_dir):
            os.mkdir(folder)
            os.chmod(folder, 0o755)
        self.users, self.groups = dict(USERS), {name: (gid, list(members)) for name, (gid, members) in GROUPS.items()}
        self.write_accounts()
        with open(os.path.join(self.etc, "nsswitch.conf"), "w") as file:
            file.write("passwd: files\ngroup: files\n")
        for name in ("ld.so.cache", "ld.so.conf"):
            if os.path.exists("/etc/" + name):
                shutil.copy("/etc/" + name, self.etc)
        script = 'mount --bind "$1/etc" /etc && mount --bind "$1/run" /run && echo ready && exec cat'
        self.holder = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", home],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.holder.stdout.readline() != "ready\n":
            raise AssertionError("no private /etc")

    def write_accounts(self):
        with open(os.path.join(self.etc, "passwd"), "w") as file:
            for name, (uid, gid) in self.users.items():
                file.write("%s:x:%d:%d::%s:/usr/sbin/nologin\n" % (name, uid, gid, os.path.join(self.home, "homes", name)))
        with open(os.path.join(self.etc, "group"), "w") as file:
            for name, (gid, members) in self.groups.items():
                file.write("%s:x:%d:%s\n" % (name, gid, ",".join(members)))

    def command(self, *words, uid=None, gid=None, groups=()):
        ids = []
        if uid is not None:
            ids = ["setpriv", "--reuid", str(uid), "--regid", str(gid if gid is not None else uid)]
            ids += ["--groups", ",".join(map(str, groups))] if groups else ["--clear-groups"]
        return ["nsenter", "--mount=/proc/%d/ns/mnt" % self.holder.pid, "--", *ids, *words]

    def run(self, *words, **ids):
        return subprocess.run(self.command(*words, **ids), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/", check=False,
                              env=dict(os.environ, NO_COLOR="1"))

    def intray(self, *words, **ids):
        return self.run(program("intray"), *words, **ids)

    def stop(self):
        self.holder.stdin.close()
        self.holder.wait(timeout=20)
        self.holder.stdout.close()


class MachineTest(unittest.TestCase):
    """A fresh machine with a folder for each test; nothing is installed on it yet."""

    def setUp(self):
        if why := why_not():
            self.skipTest(why)
        self.home = tempfile.mkdtemp(prefix="intray-test-")
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        os.chmod(self.home, 0o755)
        os.mkdir(os.path.join(self.home, "homes"))
        self.machine = Machine(self.home)
        self.addCleanup(self.machine.stop)
        self.root = os.path.join(self.home, "site")
        self.mirror = os.path.join(self.home, "mirror.git")
        self.credential = os.path.join(self.machine.etc, "intray", "save.credential")  # /etc/intray/save.credential inside

    def init(self, *extra, credential="/etc/intray/save.credential"):
        ca = os.path.join(self.home, "ca.pem")
        if not os.path.exists(ca):
            open(ca, "w").close()
        return self.machine.intray("init", "--root", self.root, "--receiver", "https://vault.example.org", "--ca-file", ca, "--credential",
                                   credential, "--mirror", self.mirror, "--branch", "main", "--namespace", "vault/acme/test/1", "--set",
                                   "source.max_age=15m", *extra)

    def write(self, path, text, uid, gid, mode):
        with open(path, "w") as file:
            file.write(text)
        os.chown(path, uid, gid)
        os.chmod(path, mode)

    def place(self, *parts):
        return os.path.join(self.root, "save", *parts)

    def make_site(self):
        """A whole site as an admin would have it after the first job."""
        done = self.init()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.write(self.credential, "secret-of-the-receiver\n", SAVE, SAVE, 0o400)
        made = self.machine.run("git", "init", "--quiet", "--bare", "--initial-branch=main", self.mirror, uid=MIRROR)
        self.assertEqual(made.returncode, 0, made.stderr)
        for folder, folders, files in os.walk(self.mirror):
            for name in folders + files:
                path = os.path.join(folder, name)
                os.chmod(path, 0o2750 if os.path.isdir(path) else 0o640)
                os.chown(path, MIRROR, MIRROR)
        self.write(self.place("ledger", "ledger.db"), "", SAVE, ADMIN_GROUP, 0o640)
        self.write(self.place("receipts", "2026-11-30.jsonl"), "", SAVE, REQUESTER, 0o640)
