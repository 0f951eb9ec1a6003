"""What the service manager would make of our units, users and directories, without starting anything: exposure, errors, and the
lines that security rests on. BUILD is the build folder, SOURCE the tree.
"""
import glob
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD, SOURCE = pathlib.Path(os.environ["BUILD"]), pathlib.Path(os.environ["SOURCE"])
MADE, WRITTEN = BUILD / "tools/systemd", SOURCE / "tools/systemd"
SERVICES = ["intray-save.service", "intray-save-connector@.service"]
EXPOSURE_MAX = 10  # tenths


def run(*command, **kwargs):
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **kwargs)


def settings(path):
    """Key -> list of values, in the order of the file."""
    out = {}
    for line in path.read_text().splitlines():
        key, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            out.setdefault(key, []).append(value)
    return out


class Scratch(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="intray-units-"))
        self.addCleanup(shutil.rmtree, self.home)


class Exposure(Scratch):
    def setUp(self):
        super().setUp()
        (self.home / "intray-save.service.d").mkdir()
        shutil.copy(MADE / "50-system-calls.conf", self.home / "intray-save.service.d")

    def rate(self, text, name):
        (self.home / name).write_text(text)
        return run("systemd-analyze", "security", "--offline=true", "--threshold=%d" % EXPOSURE_MAX, self.home / name)

    def test_each_service_is_confined_well_enough(self):
        for name in SERVICES:
            done = self.rate((MADE / name).read_text(), name)
            self.assertEqual(done.returncode, 0, done.stdout[-300:])

    def test_the_gate_notices_one_lost_line_of_the_connector(self):
        name = "intray-save-connector@.service"
        for line in ("CapabilityBoundingSet=", "PrivateDevices=yes", "RestrictNamespaces=yes", "IPAddressDeny=any"):
            weak = (MADE / name).read_text().replace("\n" + line + "\n", "\n")
            self.assertNotEqual(weak, (MADE / name).read_text(), line)
            self.assertEqual(self.rate(weak, name).returncode, 1, line)

    def test_the_gate_notices_a_bare_unit(self):
        self.assertEqual(self.rate("[Service]\nExecStart=/usr/sbin/intray-save\n", "intray-save.service").returncode, 1)


class Correct(Scratch):
    def root(self):
        """A root with our units, the targets they name, and programs where they look for them."""
        units = self.home / "usr/lib/systemd/system"
        units.mkdir(parents=True)
        for path in glob.glob("/lib/systemd/system/*.target") + glob.glob("/lib/systemd/system/*.slice"):
            shutil.copy(path, units)
        for name in SERVICES:
            shutil.copy(MADE / name, units)
            program = self.home / settings(MADE / name)["ExecStart"][0].split()[0].lstrip("/")
            program.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy("/bin/true", program)
        (units / "intray-save.service.d").mkdir()
        shutil.copy(MADE / "50-system-calls.conf", units / "intray-save.service.d")
        shutil.copy(WRITTEN / "intray-save-connector.socket", units)
        return units

    def verify(self):
        return run("systemd-analyze", "verify", "--man=no", "--root=%s" % self.home, *SERVICES, "intray-save-connector.socket")

    def test_no_error_and_no_warning(self):
        self.root()
        done = self.verify()
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_an_unknown_line_would_be_seen(self):
        units = self.root()
        with open(units / SERVICES[0], "a", encoding="utf-8") as unit:
            unit.write("[Service]\nPrivateNetwrok=yes\n")
        self.assertIn("PrivateNetwrok", self.verify().stdout)

    def test_the_manual_pages_exist(self):
        for path in [*(MADE / name for name in SERVICES), WRITTEN / "intray-save-connector.socket"]:
            for page in settings(path)["Documentation"][0].split():
                name, section = page.removeprefix("man:").rstrip(")").split("(")
                self.assertTrue((SOURCE / "docs/man" / f"{name}.{section}").exists(), page)


class Lines(unittest.TestCase):
    """What must not get lost in an edit, each for its own reason."""

    def test_executor(self):
        unit = settings(MADE / "intray-save.service")
        self.assertEqual(unit["Type"], ["notify"])
        self.assertEqual(unit["User"], ["intray-save"])
        self.assertEqual(unit["PrivateNetwork"], ["yes"])
        self.assertEqual(unit["RestrictAddressFamilies"], ["AF_UNIX"])
        self.assertEqual(unit["LoadCredential"], ["save-credential:/etc/intray/credentials/save"])
        self.assertEqual(unit["LimitCORE"], ["0"])
        self.assertEqual(unit["UMask"], ["0027"])
        self.assertEqual(unit["Restart"], ["on-failure"])
        self.assertLessEqual({"2", "70", "76", "77", "78", "SIGSYS"}, set(unit["RestartPreventExitStatus"][0].split()))
        self.assertEqual(unit["ReadWritePaths"], ["-/var/lib/intray/save"])
        self.assertNotIn("PrivateUsers", unit)  # would hide the owners' uids that admission checks
        self.assertIn("seccomp", unit["SystemCallFilter"][0].split())
        self.assertIn("landlock_restrict_self", unit["SystemCallFilter"][0].split())

    def test_the_filter_is_made_from_the_policy_and_lets_the_lock_down_through(self):
        lines = settings(MADE / "50-system-calls.conf")["SystemCallFilter"]
        self.assertEqual(lines[0], "")  # replaces the unit's own
        calls = {word for line in lines for word in line.split()}
        self.assertLessEqual({"execve", "seccomp", "landlock_restrict_self", "prctl", "pwrite64", "renameat2", "statx"}, calls)
        self.assertFalse(calls & {"ptrace", "mount", "bpf", "io_uring_setup", "init_module", "unshare", "setns", "keyctl", "@system-service"})

    def test_connector(self):
        unit = settings(MADE / "intray-save-connector@.service")
        self.assertEqual(unit["User"], ["intray-save-connector"])
        self.assertEqual(unit["IPAddressDeny"], ["any"])
        self.assertNotIn("IPAddressAllow", unit)  # the site's drop-in
        self.assertNotIn("LoadCredential", unit)
        self.assertNotIn("ReadWritePaths", unit)
        self.assertNotIn("PrivateUsers", unit)  # would hide the peer's uid
        self.assertIn("--peer-user intray-save", unit["ExecStart"][0])

    def test_socket(self):
        unit = settings(WRITTEN / "intray-save-connector.socket")
        self.assertEqual(unit["ListenSequentialPacket"], ["/run/intray/save-connector.sock"])
        self.assertEqual(unit["Accept"], ["yes"])
        self.assertEqual((unit["SocketUser"], unit["SocketGroup"], unit["SocketMode"]), (["root"], ["intray-save"], ["0660"]))


@unittest.skipUnless(os.geteuid() == 0, "only root can make users and give directories away")
class UsersAndDirectories(Scratch):
    def setUp(self):
        super().setUp()
        (self.home / "etc").mkdir()
        for name in ("intray", "intray-save"):
            done = run("systemd-sysusers", "--root=%s" % self.home, WRITTEN / f"{name}.sysusers")
            self.assertEqual(done.returncode, 0, done.stdout)

    def rows(self, name):
        return [line.split(":") for line in (self.home / "etc" / name).read_text().splitlines()]

    def test_no_user_can_log_in_and_each_has_its_own_group(self):
        users = {row[0]: row for row in self.rows("passwd")}
        groups = {row[0]: row for row in self.rows("group")}
        self.assertEqual(set(users), {"intray-rq", "intray-mirror", "intray-save", "intray-save-connector"})
        for name, row in users.items():
            self.assertEqual((row[5], row[6]), ("/nonexistent", "/usr/sbin/nologin"))
            self.assertEqual(row[3], groups[name][2])
            self.assertLess(int(row[2]), 1000)
        self.assertEqual(groups["intray-adm"][3], "")
        self.assertEqual(groups["intray-rq"][3], "")
        self.assertEqual(groups["intray-mirror"][3], "intray-save")

    def test_directories(self):
        done = run("systemd-tmpfiles", "--create", "--root=%s" % self.home, WRITTEN / "intray.tmpfiles")
        self.assertEqual(done.returncode, 0, done.stdout)
        ids = {row[0]: int(row[2]) for row in self.rows("passwd")}
        groups = {0: 0} | {int(row[2]): int(row[3]) for row in self.rows("passwd")}  # a user's own
        for path, owner, mode in [("etc/intray", 0, 0o755), ("etc/intray/credentials", 0, 0o700), ("var/lib/intray", 0, 0o755),
                                  ("run/intray", 0, 0o755), ("var/lib/intray/mirror.git", ids["intray-mirror"], 0o2750)]:
            info = (self.home / path).stat()
            self.assertEqual((info.st_uid, info.st_gid, info.st_mode & 0o7777), (owner, groups[owner], mode), path)


if __name__ == "__main__":
    unittest.main(verbosity=2)
