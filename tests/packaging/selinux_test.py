"""SELinux modules: what they grant, and that their neverallow lines hold and would fire. BUILD is the build folder, SOURCE the tree.
"""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import policy_stub

SOURCE, MADE = pathlib.Path(os.environ["SOURCE"]) / "selinux", pathlib.Path(os.environ["BUILD"]) / "selinux"
DEVEL = "/usr/share/selinux/devel/Makefile"
DOMAINS = ["intray_save_t", "intray_connector_t"]
RULE = re.compile(r"^allow (\w+) (\w+):(\w+) \{? ?([^};]*?) ?\}?;", re.M)
NETWORK = "tcp_socket,udp_socket,rawip_socket,packet_socket,netlink_route_socket,icmp_socket,sctp_socket"


@unittest.skipUnless(os.path.exists(DEVEL), "selinux-policy-dev is not installed")
class Modules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.mkdtemp(prefix="intray-selinux-")
        cls.addClassCleanup(shutil.rmtree, cls.home)
        sources = [*SOURCE.glob("*.te"), *SOURCE.glob("*.if"), *MADE.glob("*.fc")]
        subprocess.run([SOURCE / "build-modules", DEVEL, cls.home, *sources], check=True)
        cls.texts = [policy_stub.to_cil(path) for path in sorted(pathlib.Path(cls.home).glob("*.pp"))]
        status, messages, cls.policy = policy_stub.compile_policy(cls.home, cls.texts)
        if status:
            raise AssertionError(messages)
        listed = subprocess.run(["sesearch", "-A", str(cls.policy)], check=True, stdout=subprocess.PIPE, text=True).stdout
        cls.rules = [(source, target, kind, set(permissions.split())) for source, target, kind, permissions in RULE.findall(listed)]

    def grants(self, source, target=None, kind=None, permission=None):
        """(target, class, permissions) of each matching rule. One query for the whole policy: each start of sesearch costs seconds."""
        return [(t, c, p) for s, t, c, p in self.rules
                if s == source and target in (None, t) and kind in (None, c) and (permission is None or permission in p)]

    def permissions(self, source, target=None, kind=None):
        return set().union(*(p for _, _, p in self.grants(source, target, kind)))

    def test_the_way_of_asking_works(self):
        self.assertGreater(len(self.rules), 100)
        self.assertEqual({source for source, *_ in self.rules} - {"init_t", "initrc_t"}, set(DOMAINS))  # none through an attribute
        self.assertIn("name_connect", self.permissions("intray_connector_t", kind="tcp_socket"))
        self.assertIn("read", self.permissions("intray_save_t", "intray_mirror_t", kind="file"))

    def test_the_executor_uses_connections_and_makes_none(self):
        self.assertEqual(self.permissions("intray_save_t", kind="tcp_socket"),
                         {"getattr", "getopt", "setopt", "read", "write", "ioctl", "shutdown"})
        self.assertEqual(self.permissions("intray_save_t", "intray_save_t", kind="tcp_socket"), set())
        for name in set(NETWORK.split(",")) - {"tcp_socket"}:
            self.assertEqual(self.permissions("intray_save_t", kind=name), set(), name)

    def test_no_domain_starts_a_program_or_becomes_another(self):
        for domain in DOMAINS:
            executed = {target for target, _, _ in self.grants(domain, kind="file", permission="execute")}
            self.assertEqual(executed, {domain.replace("_t", "_exec_t")})  # the way in
            self.assertEqual(self.permissions(domain, kind="file") & {"execute_no_trans", "execmod"}, set())
            self.assertEqual(self.permissions(domain, kind="process") & {"transition", "dyntransition", "ptrace", "execmem", "setexec"}, set())
            self.assertEqual(self.permissions(domain, kind="capability"), set())

    def test_credentials_are_the_service_managers(self):
        for domain in DOMAINS:
            self.assertEqual(self.grants(domain, "intray_credential_t"), [])
        self.assertEqual(self.permissions("init_t", "intray_credential_t", kind="file") & {"write", "append", "unlink"}, set())

    def test_settings_and_mirror_are_read_only(self):
        for kind in ("intray_conf_t", "intray_mirror_t", "intray_var_lib_t", "etc_t"):
            self.assertEqual(self.permissions("intray_save_t", kind) & {"write", "append", "create", "add_name", "unlink", "setattr"}, set())

    def test_what_is_written_is_the_inbox(self):
        written = {target for target, _, _ in self.grants("intray_save_t", kind="file", permission="write")}
        self.assertEqual(written - {"init_tmpfs_t"}, {"intray_save_data_t", "intray_save_tree_t", "intray_save_receipts_t"})

    def test_the_executor_hears_of_changes_in_its_inbox_and_nowhere_else(self):
        watched = {(target, kind) for target, kind, _ in self.grants("intray_save_t", permission="watch")}
        self.assertEqual(watched, {("intray_save_drop_t", "dir"), ("intray_save_data_t", "dir")})

    def test_the_connector_knows_no_file_of_the_product(self):
        for kind in ("intray_conf_t", "intray_mirror_t", "intray_var_lib_t", "intray_save_data_t", "intray_save_drop_t", "intray_save_tree_t",
                     "intray_save_receipts_t", "intray_runtime_t"):
            self.assertEqual(self.grants("intray_connector_t", kind), [], kind)

    def test_neverallow_lines_fire(self):
        for rule in ("(allow intray_save_t intray_save_t (tcp_socket (create)))",
                     "(allow intray_save_t intray_connector_t (tcp_socket (connect)))",
                     "(allow intray_save_t etc_t (file (execute_no_trans)))",
                     "(allow intray_save_t init_t (process (ptrace)))",
                     "(allow intray_save_t intray_credential_t (file (read)))",
                     "(allow intray_save_t intray_save_drop_t (file (create)))",
                     "(allow intray_connector_t intray_conf_t (file (read)))",
                     "(allow intray_connector_t intray_connector_t (tcp_socket (listen)))"):
            with tempfile.TemporaryDirectory() as folder:
                status, messages, _ = policy_stub.compile_policy(folder, [*self.texts, rule])
                self.assertNotEqual(status, 0, rule)
                self.assertIn("neverallow", messages)


if __name__ == "__main__":
    unittest.main(verbosity=2)
