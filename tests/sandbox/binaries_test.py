#!/usr/bin/python3
"""The real programs, looked at from outside and answered by hostile neighbours: what the kernel says they may do, what they have
open, and what they do with descriptors that they did not ask for.
"""
import array
import os
import signal
import socket
import struct
import subprocess
import textwrap
import time
import unittest

from harness import AS_ROOT, IDS, SiteTest, main, own, program, wait_for

EX_MALFORMED, EX_UNUSABLE = 65, 69


def status(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as lines:
        return dict((name, value.strip()) for name, value in (line.split(":", 1) for line in lines))


def descriptors(pid):
    folder = "/proc/%d/fd" % pid
    return {int(name): os.readlink(os.path.join(folder, name)) for name in os.listdir(folder)}


def children(pid):
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if status(int(name))["PPid"] == str(pid):
                    found.append(int(name))
            except (OSError, KeyError):
                pass
    return found


class FromOutside(SiteTest):
    def start(self, **kwargs):
        commit = self.repo.notes(3)
        self.start_receiver()
        site = self.make_site()
        ids = site.submit_all(commit)
        child = site.executor(**kwargs)
        self.running.append(child)
        wait_for("receipts", lambda: len(site.receipts()) == len(ids))
        (connector,) = children(child.pid)
        return child, connector

    def test_the_kernel_says_that_both_are_confined(self):
        child, connector = self.start()
        for pid in (child.pid, connector):
            facts = status(pid)
            self.assertEqual(facts["NoNewPrivs"], "1")
            self.assertEqual(facts["Seccomp"], "2")
            self.assertEqual(facts["Seccomp_filters"], "1")
            self.assertEqual(facts["Threads"], "1")
            for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                self.assertEqual(int(facts[name], 16), 0, name)
            self.assertNotIn("0", facts["Uid"].split())
            self.assertNotIn("0", facts["Gid"].split())
        self.assertEqual(self.stop(child), 0)

    def test_without_its_connector_it_stops_by_itself(self):
        child, connector = self.start()
        os.kill(connector, signal.SIGKILL)
        self.assertEqual(child.wait(30), EX_UNUSABLE, self.site.log()[-2000:])
        self.assertIn("connector_lost", self.site.log())

    def test_a_stop_in_between_is_nothing(self):
        child, connector = self.start()
        for pid in (connector, child.pid):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.3)
            os.kill(pid, signal.SIGCONT)
        self.repo.write("later.md", "# Later\n")
        job = self.site.submit_path(self.repo.commit(), "later.md")
        wait_for("the outcome", lambda: self.site.outcome(job))
        self.assertEqual(self.site.outcome(job)[0], "SUCCEEDED")
        self.assertEqual(self.stop(child), 0)

    def test_git_may_be_packed_anew_under_a_working_executor(self):
        self.repo.notes(40)
        self.repo.git("gc", "--quiet", cwd=self.repo.mirror)
        own(self.repo.mirror)
        child, _ = self.start()
        for number in range(3):
            self.repo.write("later/%d.md" % number, "# Later %d\n" % number)
            job = self.site.submit_path(self.repo.commit(), "later/%d.md" % number)
            self.repo.git("repack", "-a", "-d", "-f", "--quiet", cwd=self.repo.mirror)
            self.repo.git("prune", "--expire=now", cwd=self.repo.mirror)
            own(self.repo.mirror)
            wait_for("the outcome", lambda: self.site.outcome(job))
            self.assertEqual(self.site.outcome(job)[0], "SUCCEEDED", self.site.log()[-2000:])
        self.assertEqual(self.stop(child), 0)

    @unittest.skipUnless(AS_ROOT, "needs root: what a process that is not dumpable has open is root's to see")
    def test_each_has_open_what_it_needs_and_nothing_else(self):
        with open("/etc/passwd", "rb") as stray, socket.socket() as listener:
            listener.listen()
            for fd in (stray.fileno(), listener.fileno()):
                os.set_inheritable(fd, True)
            child, connector = self.start(close_fds=False)
        opened = descriptors(child.pid)
        root = self.site.root
        allowed = {
            "/dev/null", self.site.log_path, "anon_inode:[eventpoll]", "anon_inode:[timerfd]", "anon_inode:[signalfd]", "anon_inode:inotify",
            "anon_inode:[eventfd]", self.repo.mirror, os.path.join(root, "etc")}
        inbox = ("", "tmp", "new", "cur", "lease", "lease/0", "done", "failed", "rejected", "unknown", "receipts", "lease/0.lock", "lease/0.holder")
        allowed |= {os.path.join(root, "save", name).rstrip("/") for name in inbox}
        for fd, target in opened.items():
            if fd < 3 or target in allowed or target.startswith(os.path.join(root, "save", "ledger")) or target.startswith(self.repo.mirror):
                continue
            if target.startswith(os.path.join(root, "save", "receipts") + "/"):
                continue
            if target.startswith(("socket:", "pipe:")):
                continue
            self.fail("intray-save has open: %d -> %s" % (fd, target))
        self.assertNotIn("/etc/passwd", opened.values())
        # Sockets: the channel, connections to the receiver, libcurl's own pair. None of them listens.
        inodes = {target[8:-1] for target in opened.values() if target.startswith("socket:")}
        with open("/proc/net/tcp", encoding="ascii") as rows:
            for row in rows.readlines()[1:]:
                words = row.split()
                if words[9] in inodes:
                    self.assertEqual(words[2].split(":")[1], "%04X" % self.receiver.port, row)
                    self.assertNotEqual(words[3], "0A", row)
        self.assertEqual(sorted(descriptors(connector)), [0, 1, 2, 3])
        self.assertEqual(self.stop(child), 0)

    @unittest.skipUnless(AS_ROOT, "needs root: the memory map of a process that is not dumpable is root's to see")
    def test_no_memory_of_theirs_is_writable_and_executable(self):
        child, connector = self.start()
        for pid in (child.pid, connector):
            with open("/proc/%d/maps" % pid, encoding="ascii", errors="replace") as rows:
                for row in rows:
                    self.assertFalse("w" in row.split()[1] and "x" in row.split()[1], row)
        self.assertEqual(self.stop(child), 0)

    @unittest.skipUnless(AS_ROOT, "needs root: the environment of a process that is not dumpable is root's to see")
    def test_another_process_of_the_same_user_sees_nothing_of_theirs(self):
        child, connector = self.start()
        for pid in (child.pid, connector):
            for name in ("mem", "environ", "maps", "fd", "cwd"):
                done = subprocess.run(["cat" if name != "fd" else "ls", "/proc/%d/%s" % (pid, name)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **IDS)
                self.assertNotEqual(done.returncode, 0, "/proc/%d/%s" % (pid, name))
                self.assertIn(b"ermission denied", done.stderr)
        self.assertEqual(self.stop(child), 0)

    def test_a_directory_or_nothing_on_a_standard_descriptor_is_refused(self):
        self.start_receiver()
        site = self.make_site()
        directory = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
        self.addCleanup(os.close, directory)
        for number in (0, 1):
            streams = {0: {"stdin": directory}, 1: {"stdout": directory}}[number]
            self.assertEqual(site.executor("--once", **streams).wait(30), EX_UNUSABLE)
            self.assertIn("descriptor %d is a directory" % number, site.log())
        closed = subprocess.run(["/bin/sh", "-c", 'exec "$0" "$@" <&-', program("intray-save"), "--config", site.config, "--once"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.home, **IDS)
        self.assertEqual(closed.returncode, EX_UNUSABLE)
        self.assertIn("descriptor 0 is not open", closed.stderr)


class Connector(unittest.TestCase):
    """The real connector, asked by a hostile executor."""

    def setUp(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.listener.close)
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(self.ours.close)
        self.ours.settimeout(10)
        number = theirs.fileno()
        self.child = subprocess.Popen(
            [program("intray-connector"), "--address", "127.0.0.1:%d" % self.listener.getsockname()[1], "--channel", str(number)],
            pass_fds=[number], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **IDS)
        theirs.close()
        self.addCleanup(self.end)

    def end(self):
        self.ours.close()
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        self.child.stderr.close()

    def ask(self):
        self.ours.send(b"C")
        data, fds, flags, _ = socket.recv_fds(self.ours, 16, 8)
        for fd in fds:
            os.close(fd)
        return data, len(fds)

    def test_it_answers_with_one_connection(self):
        self.assertEqual(self.ask(), (b"K", 1))

    @unittest.skipUnless(AS_ROOT, "needs root: what a process that is not dumpable has open is root's to see")
    def test_descriptors_sent_along_are_not_received(self):
        self.assertEqual(self.ask(), (b"K", 1))
        before = descriptors(self.child.pid)
        with open("/etc/passwd", "rb") as file:
            for count in (1, 2, 100):
                rights = array.array("i", [file.fileno()] * count)
                self.ours.sendmsg([b"C"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
                data, fds, _, _ = socket.recv_fds(self.ours, 16, 8)
                for fd in fds:
                    os.close(fd)
                self.assertEqual(data, b"K")
        wait_for("its copies closed", lambda: set(descriptors(self.child.pid)) <= set(before), 5)

    def test_a_request_that_says_more_ends_it(self):
        for request in (b"CC", b"C127.0.0.1:22\0", b"C" + struct.pack("!HH4s8x", socket.AF_INET, 22, socket.inet_aton("10.0.0.1")), b"K", b"c", b"C" * 4096):
            with self.subTest(request=request[:20]):
                self.ours.send(request)
                self.assertEqual(self.child.wait(10), EX_MALFORMED)
                self.end()
                self.setUp()
                self.listener.settimeout(0.05)
                with self.assertRaises(TimeoutError):
                    self.listener.accept()

    def test_who_is_there_can_be_held_against_a_name(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            done = subprocess.run([program("intray-connector"), "--address", "127.0.0.1:9", "--channel", str(theirs.fileno()), "--peer-user", "4242"],
                                  pass_fds=[theirs.fileno()], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=30, **IDS)
        self.assertEqual(done.returncode, 77)


HOSTILE = """\
#!{python} -ISE
# A connector that was taken over: it answers the first request with what it should not.
import array, os, socket, sys
channel = socket.socket(fileno=3)
channel.setblocking(True)
channel.recv(16)
{make}
channel.sendmsg([{answer}], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else [])
while channel.recv(16):
    pass
"""

class HostileConnector(SiteTest):
    """The real executor with a connector that hands over the wrong thing: it uses none of it, and sends nothing."""

    def run_with(self, make, answer='b"K"'):
        self.site = self.make_site()
        path = os.path.join(self.home, "hostile")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HOSTILE.format(python=os.path.realpath("/usr/bin/python3"), make=textwrap.dedent(make), answer=answer))
        os.chmod(path, 0o755)
        own(path)
        self.site.set({"connector.program": '"%s"' % path})
        self.site.submit_all(self.repo.notes(1))
        child = self.site.executor("--once")
        self.running.append(child)
        child.wait(60)
        self.assertNotEqual(child.returncode, 0, self.site.log()[-2000:])
        self.assertGreater(child.returncode, 0, "killed: " + self.site.log()[-2000:])
        self.assertEqual(self.receiver.requests(), [])
        self.assertEqual(self.site.receipts(), [])
        self.assertEqual(len(self.site.names("new")) + len(self.site.names("cur")) + len(self.site.names("lease/0")), 1)
        return child.returncode

    def check(self, make, answer='b"K"'):
        self.start_receiver()
        self.run_with(make.replace("PORT", str(self.receiver.port)), answer)
        # The same job with the real connector: nothing was lost.
        self.site.set({"connector.program": '"%s"' % program("intray-connector")})
        self.site.once()
        self.assertEqual(len(self.receiver.saves_received()), 1)

    def test_two_descriptors(self):
        self.check("s = socket.create_connection(('127.0.0.1', PORT)); fds = [s.fileno(), s.fileno()]")

    def test_no_descriptor(self):
        self.check("fds = []")

    def test_two_bytes(self):
        self.check("s = socket.create_connection(('127.0.0.1', PORT)); fds = [s.fileno()]", 'b"KK"')

    def test_a_pipe(self):
        self.check("fds = [os.pipe()[1]]")

    def test_a_file(self):
        self.check("fds = [os.open('/etc/passwd', os.O_RDONLY)]")

    def test_a_directory(self):
        self.check("fds = [os.open('/', os.O_RDONLY)]")

    def test_a_datagram_socket(self):
        self.check("s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('127.0.0.1', PORT)); fds = [s.fileno()]")

    def test_a_socket_to_somebody_else(self):
        self.check("l = socket.create_server(('127.0.0.1', 0)); s = socket.create_connection(l.getsockname()); fds = [s.fileno()]")

    def test_a_listening_socket(self):
        self.check("s = socket.create_server(('127.0.0.1', 0)); fds = [s.fileno()]")

    def test_a_socket_that_is_not_connected(self):
        self.check("s = socket.socket(); fds = [s.fileno()]")

    def test_a_local_socket(self):
        self.check("a, b = socket.socketpair(); fds = [a.fileno()]")


if __name__ == "__main__":
    main()
