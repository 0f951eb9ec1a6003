"""`intray doctor` as root, on a machine with real, distinct users (machine.py)."""
import fcntl
import json
import os
import shutil
import socket
import subprocess
import time
import unittest

from harness import IDS, SiteTest, program
from machine import CONNECTOR, GUEST, REQUESTER, SAVE, MachineTest, snapshot

PROOFS = ["RQ_CREDENTIAL_FREE", "SAVE_EXECUTOR_SAVE_ONLY", "DELETE_EXECUTOR_DELETE_ONLY", "DELETE_EXECUTOR_VERIFY_ONLY",
          "NO_PRIVATE_SIGNING_KEY_IN_STACK", "NO_GENERIC_COMMAND_DISPATCH", "NO_ARBITRARY_URL", "NO_ARBITRARY_HTTP_METHOD",
          "NO_ARBITRARY_HEADERS", "NO_SHELL_EXECUTION", "JOB_DOES_NOT_EQUAL_AUTHORIZATION", "APPROVAL_REQUIRED_FOR_DELETE", "ATOMIC_CLAIM",
          "IDEMPOTENCY", "REPLAY_PROTECTION", "OUTCOME_UNKNOWN_FAIL_CLOSED"]


class Answer:
    def __init__(self, done):
        self.code, self.stderr = done.returncode, done.stderr
        self.rows = [json.loads(line) for line in done.stdout.splitlines()]

    def of(self, kind):
        return [row for row in self.rows if row["type"] == kind]

    def cell(self, subject, label):
        return next(c for c in self.of("cell") if c["subject"] == subject and c["label"] == label)

    def proof(self, name):
        return next(p for p in self.of("proof") if p["name"] == name)

    def failures(self):
        return [(r.get("subject"), r.get("label") or r.get("name")) for r in self.rows if r.get("result") == "FAIL"]


class WholeSite(MachineTest):
    def setUp(self):
        super().setUp()
        self.make_site()

    def doctor(self, **ids):
        return Answer(self.machine.intray("doctor", "--root", self.root, "--json", **ids))


class Sound(WholeSite):
    def test_a_sound_site_passes(self):
        before = snapshot(self.root, self.mirror, self.machine.etc)
        answer = self.doctor()
        self.assertEqual(answer.failures(), [])
        self.assertEqual(answer.code, 0, answer.stderr)
        self.assertEqual(snapshot(self.root, self.mirror, self.machine.etc), before)
        # The cells that everything rests on were tried, and not passed over.
        for subject, label, could in [
                ("requester", "save credential: read", False), ("requester", "save tmp, new: add", True),
                ("requester", "save tmp, new: others'", False), ("requester", "save ledger: read", False),
                ("requester", "save receipts: read", True), ("requester", "save receipts: write", False),
                ("unrelated agent", "save tmp, new: add", False), ("unrelated agent", "git mirror: read", False),
                ("save executor", "save credential: read", True), ("save executor", "save ledger: write", True),
                ("save executor", "git mirror: read", True), ("save executor", "git mirror: write", False),
                ("save executor", "settings: write", False), ("save connector", "save credential: read", False),
                ("save connector", "network: make socket", True), ("mirror", "git mirror: write", True),
                ("mirror", "save tmp, new: list", False), ("admin", "save ledger: read", True), ("admin", "save ledger: write", False),
                ("admin", "save credential: read", False), ("requester", "others' processes: trace", False),
                ("requester", "others' processes: signal", False), ("requester", "programs: write", False)]:
            with self.subTest(subject=subject, label=label):
                cell = answer.cell(subject, label)
                self.assertEqual((cell["result"], cell["could"]), ("PASS", could), cell)
        self.assertEqual(answer.cell("delete executor", "delete ledger: write")["result"], "NOT YET")
        self.assertEqual(answer.cell("save executor", "network: make socket")["result"], "SKIPPED")  # it doesn't run

    def test_every_proof_is_named_with_what_shows_it(self):
        answer = self.doctor()
        self.assertEqual([p["name"] for p in answer.of("proof")], PROOFS)
        for name in ("RQ_CREDENTIAL_FREE", "SAVE_EXECUTOR_SAVE_ONLY", "NO_PRIVATE_SIGNING_KEY_IN_STACK", "NO_GENERIC_COMMAND_DISPATCH",
                     "NO_ARBITRARY_URL", "NO_ARBITRARY_HTTP_METHOD", "NO_ARBITRARY_HEADERS", "NO_SHELL_EXECUTION", "ATOMIC_CLAIM",
                     "OUTCOME_UNKNOWN_FAIL_CLOSED"):
            self.assertEqual(answer.proof(name)["result"], "PASS", answer.proof(name))
        for name in ("DELETE_EXECUTOR_DELETE_ONLY", "DELETE_EXECUTOR_VERIFY_ONLY", "APPROVAL_REQUIRED_FOR_DELETE"):
            self.assertEqual(answer.proof(name)["result"], "NOT YET")
        for name in ("JOB_DOES_NOT_EQUAL_AUTHORIZATION", "IDEMPOTENCY", "REPLAY_PROTECTION"):
            self.assertEqual(answer.proof(name)["result"], "SUITE")
            self.assertIn("integration-" if name != "REPLAY_PROTECTION" else "unit-", answer.proof(name)["shown_by"])

    def test_the_table_for_people_fits_and_has_its_legend(self):
        done = self.machine.intray("doctor", "--root", self.root)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = done.stdout[done.stdout.index("Who can do what"):done.stdout.index("How it was tried")]
        self.assertLessEqual(max(len(line) for line in table.splitlines()), 120)
        self.assertIn("NOT YET delete credential; public keys; delete tmp, new;", " ".join(table.split()))
        self.assertRegex(table, r"save credential: read +no +no +yes +no +no +no\n")
        self.assertIn("receiver: SKIPPED: it runs on another machine", table)
        self.assertIn(" 0 FAIL", done.stdout)

    def test_without_root_it_says_what_it_could_not_try(self):
        answer = self.doctor(uid=REQUESTER)
        self.assertEqual(answer.failures(), [])
        self.assertEqual(answer.code, 4)
        self.assertIn("not run as root", answer.stderr)
        self.assertEqual(answer.cell("unrelated agent", "save ledger: read")["result"], "SKIPPED")
        self.assertEqual(answer.cell("requester", "save tmp, new: add")["result"], "PASS")  # its own rights it can try
        self.assertNotEqual(answer.proof("RQ_CREDENTIAL_FREE")["result"], "PASS")
        self.assertFalse(answer.of("summary")[0]["complete"])

    def test_two_at_a_time_and_a_killed_one(self):
        os.mkdir(self.place(".doctor"))
        os.mkdir(self.place(".doctor", "new"))
        open(self.place(".doctor", "new", "another-users-file"), "w").close()
        lock = os.open(self.place(".doctor"), os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = self.machine.intray("doctor", "--root", self.root)
        self.assertEqual(done.returncode, 75)
        self.assertIn("another 'intray doctor'", done.stderr)
        os.close(lock)
        self.assertEqual(self.doctor().code, 0)
        self.assertFalse(os.path.exists(self.place(".doctor")))

    def test_an_executor_that_runs_with_the_network_fails(self):
        # Stands for one started by hand, outside its unit: same name, same user, no filter.
        impostor = os.path.join(self.home, "intray-save")
        shutil.copy(shutil.which("sleep"), impostor)
        child = subprocess.Popen([impostor, "60"], user=SAVE, group=SAVE, extra_groups=[])
        try:
            self.assertIn(("save executor", "network: make socket"), self.doctor().failures())
        finally:
            child.kill()
            child.wait()
        quiet = subprocess.Popen(["unshare", "--net", "setpriv", "--reuid", str(SAVE), "--regid", str(SAVE), "--clear-groups", impostor, "60"])
        try:
            for _ in range(200):
                with open("/proc/%d/comm" % quiet.pid) as comm:
                    if comm.read() == "intray-save\n":
                        break
                time.sleep(0.02)
            answer = self.doctor()
            self.assertEqual(answer.cell("save executor", "network: make socket")["result"], "PASS")
        finally:
            quiet.kill()
            quiet.wait()

    def test_a_local_receiver_is_a_subject_too(self):
        os.seteuid(GUEST)  # the kernel remembers who made a socket
        try:
            listener = socket.create_server(("127.0.0.1", 0))
        finally:
            os.seteuid(0)
        with listener:
            port = listener.getsockname()[1]
            config = os.path.join(self.machine.etc, "intray", "save.toml")
            with open(config) as file:
                text = file.read()
            with open(config, "w") as file:
                file.write(text.replace('"https://vault.example.org"', '"https://127.0.0.1:%d"' % port))
            answer = self.doctor()
            self.assertEqual(answer.code, 0, answer.failures())
            self.assertEqual(answer.cell("receiver", "save ledger: read")["result"], "PASS")
            os.chmod(self.place("ledger"), 0o2755)
            os.chmod(self.place("ledger", "ledger.db"), 0o644)
            self.assertIn(("receiver", "save ledger: read"), self.doctor().failures())


def breaks(name, *failures, code=1):
    """A test that breaks the boundary once, and demands FAIL of just these: (subject, label), or the name of a check or proof."""
    def decorate(function):
        def test(self):
            function(self)
            answer = self.doctor()
            found = answer.failures()
            for failure in failures:
                wanted = failure if isinstance(failure, tuple) else (None, failure)
                self.assertIn(wanted, found)
            self.assertEqual(answer.code, code)
            plain = self.machine.intray("doctor", "--root", self.root)
            self.assertEqual(plain.returncode, code)
            self.assertIn("FAIL", plain.stdout)
        test.__doc__ = name
        return test
    return decorate


class Broken(WholeSite):
    @breaks("a credential that everybody reads", ("requester", "save credential: read"), ("unrelated agent", "save credential: read"),
            ("save connector", "save credential: read"), ("mirror", "save credential: read"), ("admin", "save credential: read"), "credential",
            "RQ_CREDENTIAL_FREE")
    def test_credential_0644(self):
        os.chmod(self.credential, 0o644)

    @breaks("a folder in which the credential could be swapped", ("requester", "save credential: write"), ("requester", "settings: write"))
    def test_config_dir_writable(self):
        os.chown(os.path.join(self.machine.etc, "intray"), 0, REQUESTER)
        os.chmod(os.path.join(self.machine.etc, "intray"), 0o775)

    @breaks("a ledger that everybody reads", ("requester", "save ledger: read"), ("unrelated agent", "save ledger: read"), "layout")
    def test_ledger_world_readable(self):
        os.chmod(self.place("ledger"), 0o2755)
        os.chmod(self.place("ledger", "ledger.db"), 0o644)

    @breaks("a ledger that an admin writes", ("admin", "save ledger: write"))
    def test_ledger_group_writable(self):
        os.chmod(self.place("ledger", "ledger.db"), 0o660)

    @breaks("new/ without its sticky bit", ("requester", "save tmp, new: others'"), "layout")
    def test_new_without_sticky_bit(self):
        os.chmod(self.place("new"), 0o2770)

    @breaks("new/ closed to the requester", ("requester", "save tmp, new: add"), ("requester", "save tmp, new: list"))
    def test_new_closed(self):
        os.chmod(self.place("new"), 0o3700)

    @breaks("new/ open to everybody", ("unrelated agent", "save tmp, new: add"), ("mirror", "save tmp, new: add"))
    def test_new_open(self):
        os.chmod(self.place("new"), 0o3777)

    @breaks("the requester among the admins", ("requester", "save ledger: read"), ("requester", "save cur to unknown: list"), "groups")
    def test_requester_in_intray_adm(self):
        self.machine.groups["intray-adm"][1].append("intray-rq")
        self.machine.write_accounts()

    @breaks("the executor among the requesters", "groups")
    def test_executor_in_intray_rq(self):
        self.machine.groups["intray-rq"][1].append("intray-save")
        self.machine.write_accounts()

    @breaks("a mirror that the executor writes", ("save executor", "git mirror: write"))
    def test_mirror_writable_by_the_executor(self):
        os.chmod(os.path.join(self.mirror, "objects"), 0o2770)

    @breaks("a mirror that anybody reads", ("unrelated agent", "git mirror: read"))
    def test_mirror_world_readable(self):
        os.chmod(self.mirror, 0o2755)

    @breaks("a mirror that the executor can't read", ("save executor", "git mirror: read"))
    def test_mirror_unreadable(self):
        os.chmod(os.path.join(self.mirror, "HEAD"), 0o600)

    @breaks("held jobs that the requester changes", ("requester", "save cur to unknown: add"), "layout")
    def test_cur_writable(self):
        os.chmod(self.place("cur"), 0o2777)

    @breaks("receipts that the requester writes", ("requester", "save receipts: write"))
    def test_receipts_writable(self):
        os.chmod(self.place("receipts", "2026-11-30.jsonl"), 0o660)

    @breaks("a slot's lock that others hold", ("requester", "save slot locks: open"), "layout")
    def test_slot_lock_readable(self):
        os.chmod(self.place("lease", "0.lock"), 0o644)

    @breaks("a tree in which folders could be swapped", ("requester", "site's own folders: add"), "layout")
    def test_tree_writable(self):
        os.chmod(self.place(), 0o777)

    @breaks("a docker socket for everybody", ("requester", "docker socket: connect"), ("save executor", "docker socket: connect"))
    def test_docker_socket(self):
        path = os.path.join(self.machine.run_dir, "docker.sock")
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(server.close)
        server.bind(path)
        server.listen()
        os.chmod(path, 0o666)

    @breaks("an ssh key for everybody", ("requester", "others' ssh keys: read"), ("save executor", "others' ssh keys: read"))
    def test_ssh_key(self):
        os.makedirs(os.path.join(self.home, "homes", "guest", ".ssh"))
        self.write(os.path.join(self.home, "homes", "guest", ".ssh", "id_ed25519"), "k", GUEST, GUEST, 0o644)

    @breaks("two parts with one uid", "users")
    def test_one_uid_for_two(self):
        self.machine.users["intray-mirror"] = (CONNECTOR, CONNECTOR)
        self.machine.write_accounts()

    @breaks("a private key beside the settings", "NO_PRIVATE_SIGNING_KEY_IN_STACK")
    def test_signing_key(self):
        self.write(os.path.join(self.machine.etc, "intray", "approver.key"), "untrusted comment: minisign encrypted secret key\nRWRTY0Iy\n",
                   0, 0, 0o600)

    @breaks("settings that can't be read", "settings")
    def test_settings_wrong(self):
        with open(os.path.join(self.machine.etc, "intray", "save.toml"), "a") as file:
            file.write("\n[nonsense]\nx = 1\n")


class NoSite(MachineTest):
    def test_doctor_without_a_site(self):
        done = self.machine.intray("doctor", "--root", self.root)
        self.assertEqual(done.returncode, 4)
        self.assertIn("intray init", done.stderr)


class OneUser(SiteTest):
    """A site in user mode separates nobody, and says so."""

    def answer(self, **ids):
        return Answer(subprocess.run([program("intray"), "doctor", "--root", self.site.root, "--json"], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True, cwd="/", check=False, **ids))

    def test_user_mode_is_not_separated(self):
        self.make_site(port=1)
        answer = self.answer(**IDS)
        self.assertEqual(answer.failures(), [])
        self.assertEqual(answer.code, 0, answer.stderr)
        cell = answer.cell("requester", "save credential: read")
        self.assertEqual((cell["result"], cell["why"]), ("ONE USER", "not separated: user mode"))
        self.assertEqual(answer.proof("RQ_CREDENTIAL_FREE")["result"], "ONE USER")
        self.assertEqual(answer.proof("ATOMIC_CLAIM")["result"], "PASS")
        self.assertGreater(answer.of("summary")[0]["not_separated"], 20)

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to become another user")
    def test_other_users_are_kept_out_of_it(self):
        self.make_site(port=1)
        os.chmod(self.repo.mirror, 0o700)  # git makes it readable for everybody, and doctor says so
        answer = self.answer()
        self.assertEqual(answer.code, 0, answer.failures())
        self.assertEqual(answer.cell("unrelated agent", "save ledger: read")["result"], "PASS")
        os.chmod(self.credential, 0o444)
        answer = self.answer()
        self.assertIn(("unrelated agent", "save credential: read"), answer.failures())
        self.assertEqual(answer.code, 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
