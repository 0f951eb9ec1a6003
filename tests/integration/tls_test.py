#!/usr/bin/python3
"""An https receiver, through the real and locked-down executor: what OpenSSL does must be in the list of calls, and only the site's CA counts."""
import os
import socket
import ssl
import subprocess
import threading
import time

import harness
from harness import SiteTest, own, wait_for

NAME = "vault.test"


def certificate(folder, name):
    """A self-signed certificate for NAME."""
    key, pem = os.path.join(folder, name + ".key"), os.path.join(folder, name + ".pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=" + NAME, "-addext", "subjectAltName=DNS:" + NAME, "-keyout", key, "-out", pem],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return key, pem


class Front:
    """TLS in front of the plain receiver, as a reverse proxy that knows nothing of HTTP."""

    def __init__(self, key, pem, port):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(pem, key)
        self.behind = port
        self.cut_next = 0  # connections to be cut after the handshake
        self.cut_handshakes = False
        self.handshakes = self.failed = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(plain,), daemon=True).start()

    def serve(self, plain):
        if self.cut_handshakes:
            plain.recv(5)
            plain.close()
            self.failed += 1
            return
        try:
            secure = self.context.wrap_socket(plain, server_side=True)
        except (OSError, ssl.SSLError):
            self.failed += 1
            return
        self.handshakes += 1
        if self.cut_next > 0:
            self.cut_next -= 1
            secure.close()
            return
        with secure, socket.create_connection(("127.0.0.1", self.behind)) as inner:
            threading.Thread(target=self.copy, args=(inner, secure), daemon=True).start()
            self.copy(secure, inner)

    @staticmethod
    def copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except (OSError, ssl.SSLError):
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()


class Tls(SiteTest):
    def setUp(self):
        super().setUp()
        self.key, self.pem = certificate(self.home, "right")
        _, self.other = certificate(self.home, "wrong")
        own(self.home)

    def make_front(self):
        front = Front(self.key, self.pem, self.start_receiver().port)
        self.addCleanup(front.close)
        return front

    def make_https_site(self, front, ca, **settings):
        return self.make_site(front.port, **{"receiver.url": '"https://%s:%d"' % (NAME, front.port), "receiver.ca_file": '"%s"' % ca,
                                             "receiver.address": '"127.0.0.1"', **settings})

    def test_notes_go_through_under_the_filter(self):
        commit = self.repo.notes(40, size=3000)
        front = self.make_front()
        site = self.make_https_site(front, self.pem)
        jobs = site.submit_all(commit)
        site.once()
        self.assertEqual({site.outcome(job) for job in jobs}, {("SUCCEEDED", None, "APPLIED")})
        for path in self.receiver.files():
            with open(os.path.join(self.repo.work, path), "rb") as file:
                self.assertEqual(self.receiver.content(path), file.read(), path)
        self.assertIn("full: Landlock", site.log())

    def check_waiting(self, front, ca):
        """No answer that counts: jobs wait, nothing arrives, and the executor is alive and well."""
        commit = self.repo.notes(2)
        site = self.make_https_site(front, ca)
        site.submit_all(commit)
        child = self.run_executor()
        wait_for("a refused handshake", lambda: front.failed >= 1)
        time.sleep(0.5)
        self.assertIsNone(child.poll(), site.log()[-2000:])
        self.assertEqual(self.stop(child), 0)
        self.assertEqual(self.receiver.requests("received"), [])
        self.assertEqual(site.receipts(), [])

    def test_a_certificate_of_another_ca_is_refused_and_nothing_is_sent(self):
        self.check_waiting(self.make_front(), self.other)

    def test_handshakes_that_are_cut_leave_the_jobs_waiting(self):
        front = self.make_front()
        front.cut_handshakes = True
        self.check_waiting(front, self.pem)

    def test_a_connection_that_is_too_old_is_replaced(self):
        commit = self.repo.notes(3)
        front = self.make_front()
        site = self.make_https_site(front, self.pem, **{"receiver.idle_reuse": '"100ms"'})
        jobs = site.submit_all(commit)
        child = self.run_executor()
        wait_for("the first jobs", lambda: len(site.receipts()) == len(jobs))
        before = front.handshakes
        time.sleep(0.3)
        self.repo.write("later.md", "# Later\n")
        job = site.submit_path(self.repo.commit(), "later.md")
        wait_for("the later job", lambda: site.outcome(job))
        self.assertEqual(site.outcome(job)[0], "SUCCEEDED")
        self.assertGreater(front.handshakes, before)
        self.assertEqual(self.stop(child), 0)

    def test_connections_that_are_cut_after_the_handshake_leave_nothing_undone(self):
        commit = self.repo.notes(6)
        front = self.make_front()
        front.cut_next = 3
        site = self.make_https_site(front, self.pem)
        jobs = site.submit_all(commit)
        child = self.run_executor()
        wait_for("receipts", lambda: all(site.outcome(job) for job in jobs), timeout=60)
        self.assertEqual(self.stop(child), 0)
        self.assertEqual({site.outcome(job)[0] for job in jobs}, {"SUCCEEDED"})


if __name__ == "__main__":
    harness.main()
