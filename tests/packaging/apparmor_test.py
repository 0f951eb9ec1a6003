"""AppArmor profiles: they compile (nothing is loaded), and say nothing that they must not. BUILD is the build folder."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

PROFILES = sorted((pathlib.Path(os.environ["BUILD"]) / "apparmor").glob("intray-*"))


def compiles(path):
    return subprocess.run(["apparmor_parser", "-Q", "-K", "-T", str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)


def rules(path):
    lines = [line.split("#", 1)[0].strip() for line in path.read_text().splitlines()]
    return [line for line in lines if line.endswith(",")]


class Profiles(unittest.TestCase):
    def test_there_is_one_for_each_kind_of_process(self):
        self.assertEqual([p.name for p in PROFILES], ["intray-connector", "intray-save"])

    def test_they_compile(self):
        for path in PROFILES:
            done = compiles(path)
            self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_mistake_does_not(self):
        for path in PROFILES:
            with tempfile.NamedTemporaryFile("w", suffix=path.name) as broken:
                broken.write(path.read_text().replace("network inet stream,", "network inet steam,"))
                broken.flush()
                self.assertNotEqual(compiles(broken.name).returncode, 0)

    def test_no_program_is_started(self):
        for path in PROFILES:
            found = [r for r in rules(path) if re.search(r"\s[rwmklad]*[PpCcUui]*x\b", r) or "change_profile" in r]
            self.assertEqual(found, [], path.name)

    def test_nothing_of_the_system_is_written(self):
        for path in PROFILES:
            for rule in rules(path):
                found = re.fullmatch(r"(\S+)\s+([a-z]+),", rule)
                if found and set(found[2]) & set("wal") and found[1].startswith(("/", "@")):
                    self.assertTrue(found[1].startswith(("/var/lib/intray/save/", "@{run}/intray/", "@{run}/systemd/notify")), rule)

    def test_no_capability_no_mount_and_no_network_but_streams(self):
        for path in PROFILES:
            words = {r.split()[0].rstrip(",") for r in rules(path)}
            self.assertFalse(words & {"capability", "capability,", "mount", "umount", "pivot_root", "ptrace", "unix", "dbus", "userns"})
            inet = {r for r in rules(path) if r.startswith("network") and "unix" not in r}
            self.assertEqual(inet, {"network inet stream,", "network inet6 stream,"})

    def test_neither_attaches_by_path_nor_only_complains(self):
        for path in PROFILES:
            head = re.search(r"^profile (.*) \{$", path.read_text(), re.M)[1]
            self.assertEqual(head, f"{path.name} flags=(attach_disconnected)")

    def test_the_connector_knows_no_file_of_the_product(self):
        [path] = [p for p in PROFILES if p.name == "intray-connector"]
        self.assertEqual([r for r in rules(path) if "/intray" in r and "libexec" not in r and "local/" not in r], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
