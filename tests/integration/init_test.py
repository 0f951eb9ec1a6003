"""`intray init` as root, on a machine with real, distinct users (machine.py)."""
import os
import unittest

from machine import ADMIN_GROUP, GUEST, MIRROR, REQUESTER, SAVE, MachineTest, snapshot


class Init(MachineTest):
    def test_missing_users_and_groups_are_named_with_their_commands(self):
        for name in ("intray-save", "intray-mirror", "intray-save-connector", "intray-rq"):
            del self.machine.users[name]
            del self.machine.groups[name]
        del self.machine.groups["intray-adm"]
        self.machine.write_accounts()
        done = self.init()
        self.assertEqual(done.returncode, 3)
        for name in ("intray-save", "intray-mirror", "intray-save-connector", "intray-rq"):
            self.assertIn("the user %s is missing; make it with: adduser --system --group --no-create-home %s\n" % (name, name), done.stderr)
        self.assertIn("the group intray-adm is missing; make it with: addgroup --system intray-adm\n", done.stderr)
        for name in ("intray-rq", "intray-mirror"):
            self.assertNotIn("the group %s is missing" % name, done.stderr)
        self.assertFalse(os.path.exists(self.root))

    def test_an_executor_that_could_not_read_the_mirror_is_told_its_group(self):
        self.machine.groups["intray-mirror"] = (MIRROR, [])
        self.machine.write_accounts()
        done = self.init()
        self.assertEqual(done.returncode, 3)
        self.assertIn("intray-save is not in the group intray-mirror and can't read the mirror; add it with: adduser intray-save intray-mirror\n",
                      done.stderr)
        self.assertFalse(os.path.exists(self.root))

    def test_the_mirror_is_believed_because_of_the_user_who_keeps_it(self):
        self.assertEqual(self.init().returncode, 0)
        with open(os.path.join(self.machine.etc, "intray", "save.toml"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r'(?m)^mirror_owner = "intray-mirror"$')

    def test_a_site_may_say_that_somebody_else_keeps_its_mirror(self):
        self.assertEqual(self.init("--set", "git.mirror_owner=guest").returncode, 0)
        with open(os.path.join(self.machine.etc, "intray", "save.toml"), encoding="utf-8") as file:
            self.assertRegex(file.read(), r'(?m)^mirror_owner = "guest"$')

    def test_owners_groups_and_modes_are_those_of_the_design(self):
        done = self.init()
        self.assertEqual(done.returncode, 0, done.stderr)
        etc = os.path.join(self.machine.etc, "intray")
        wanted = {self.root: (0, 0, 0o755), self.place(): (0, 0, 0o755), self.place("lease"): (0, 0, 0o755),
                  self.place("lease", "0.lock"): (SAVE, ADMIN_GROUP, 0o600), self.place("lease", "0.holder"): (SAVE, ADMIN_GROUP, 0o640),
                  self.place("receipts"): (SAVE, REQUESTER, 0o2750), etc: (0, 0, 0o755), os.path.join(etc, "save.toml"): (0, 0, 0o644),
                  os.path.join(etc, "policy.toml"): (0, 0, 0o644), os.path.join(etc, "intray.toml"): (0, 0, 0o644),
                  os.path.join(etc, "credentials"): (0, 0, 0o700), self.mirror: (MIRROR, MIRROR, 0o2750)}
        wanted.update({self.place(name): (SAVE, REQUESTER, 0o3770) for name in ("tmp", "new")})
        wanted.update({self.place(name): (SAVE, ADMIN_GROUP, 0o2750) for name in ("cur", "done", "failed", "rejected", "unknown", "ledger", "lease/0")})
        for path, expected in wanted.items():
            info = os.lstat(path)
            self.assertEqual((info.st_uid, info.st_gid, info.st_mode & 0o7777), expected, path)
        before = snapshot(self.root, self.mirror, self.machine.etc)
        again = self.init()
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(snapshot(self.root, self.mirror, self.machine.etc), before)

    def test_a_narrower_mode_is_told_and_kept(self):
        self.assertEqual(self.init().returncode, 0)
        for path, mode in ((self.place("new"), 0o1700), (self.place("cur"), 0o700)):
            os.chmod(path, mode)
        done = self.init()
        self.assertEqual(done.returncode, 3)
        self.assertIn("new: has mode 1700, must be 3770", done.stderr)
        self.assertEqual(os.lstat(self.place("new")).st_mode & 0o7777, 0o1700)
        self.assertEqual(os.lstat(self.place("cur")).st_mode & 0o7777, 0o700)

    def test_secrets_that_are_open_are_told_and_kept(self):
        os.makedirs(os.path.join(self.machine.etc, "intray", "credentials"))
        folder = os.path.join(self.machine.etc, "intray", "credentials")
        os.chmod(folder, 0o755)
        self.write(os.path.join(folder, "save"), "secret\n", SAVE, SAVE, 0o440)
        done = self.init(credential="/etc/intray/credentials/save")
        self.assertEqual(done.returncode, 3)
        self.assertIn("/etc/intray/credentials: must be a directory of root's with mode 0700", done.stderr)
        self.assertIn("/etc/intray/credentials/save: must be a file of root's or intray-save's with mode 0400", done.stderr)
        self.assertEqual(os.lstat(folder).st_mode & 0o777, 0o755)

    def test_only_root_makes_a_site_for_several(self):
        done = self.machine.intray("init", "--root", self.root, uid=GUEST)
        self.assertEqual(done.returncode, 3)
        self.assertIn("made by root", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
