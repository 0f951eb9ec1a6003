"""What the demo and the benchmark share: an ordinary user to run as, a place for files, git."""
import os
import pwd
import subprocess

GIT_ENV = dict(os.environ, GIT_CONFIG_GLOBAL=os.path.join(os.path.dirname(os.path.abspath(__file__)), "demo.gitconfig"))


class Failure(Exception):
    pass


def say(text):
    print(text, flush=True)


class Person:
    """Who the processes of a demo or benchmark run as, and where their files lie."""

    def __init__(self, purpose, build):
        self.drop = os.geteuid() == 0
        if not self.drop:
            self.uid, self.gid = os.getuid(), os.getgid()
            self.base = os.path.join(os.path.abspath(build), purpose)
        else:
            wanted = os.environ.get("SUDO_UID")
            if wanted and wanted != "0":
                self.uid = int(wanted)
                self.gid = pwd.getpwuid(self.uid).pw_gid
            else:
                user = self.system_user("intray-demo")
                self.uid, self.gid = user.pw_uid, user.pw_gid
            self.base = "/var/lib/intray-" + purpose
        os.makedirs(self.base, mode=0o755, exist_ok=True)
        if self.drop:
            self.base = os.path.join(self.base, str(self.uid))
            os.makedirs(self.base, mode=0o700, exist_ok=True)
            os.chown(self.base, self.uid, self.gid)

    @staticmethod
    def system_user(name):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            subprocess.run(["useradd", "--system", "--no-create-home", "--home-dir", "/nonexistent", "--user-group",
                            "--shell", "/usr/sbin/nologin", name], check=True)
            return pwd.getpwnam(name)

    def ids(self):
        return {"user": self.uid, "group": self.gid, "extra_groups": []} if self.drop else {}

    def own(self, path):
        if not self.drop:
            return
        os.chown(path, self.uid, self.gid)
        for folder, folders, files in os.walk(path):
            for name in folders + files:
                os.chown(os.path.join(folder, name), self.uid, self.gid, follow_symlinks=False)


def git(*args, env=None, **kwargs):
    # The vault may be another user's: it is only read. The setting must come from a file, git drops others on its way to a vault.
    done = subprocess.run(["git", *args], env=dict(GIT_ENV, **(env or {})), stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)
    if done.returncode != 0:
        raise Failure("git %s: %s" % (" ".join(args), done.stderr.decode(errors="replace").strip()))
    return done.stdout
