#!/usr/bin/python3
"""TLS under the lock-down: what the TLS library does in the first handshake, in a failed one and in one that is cut short it must be
able to do without a file, a thread or a call that nobody thought of.
"""
import os
import socket
import ssl
import subprocess
import threading
import time

from harness import SiteTest, main, own, wait_for

NAME = "vault.example.org"


class Front:
    """Ends TLS before the reference receiver and passes on what comes. `mode`: "serve", or "cut" each handshake."""

    def __init__(self, certificate, key, port, mode):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate, key)
        self.behind, self.mode, self.dialled = port, mode, 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            self.dialled += 1
            threading.Thread(target=self.serve, args=(plain,), daemon=True).start()

    def serve(self, plain):
        try:
            if self.mode == "cut":
                plain.recv(5)
                plain.close()
                return
            with self.context.wrap_socket(plain, server_side=True) as secure, socket.create_connection(("127.0.0.1", self.behind)) as behind:
                threading.Thread(target=self.pass_on, args=(behind, secure), daemon=True).start()
                self.pass_on(secure, behind)
        except OSError:
            pass

    @staticmethod
    def pass_on(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listener.close()


class OverTls(SiteTest):
    def certificate(self, name):
        """A self-signed certificate, which is its own authority."""
        key, path = os.path.join(self.home, name + ".key"), os.path.join(self.home, name + ".pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        "/CN=" + NAME, "-addext", "subjectAltName=DNS:" + NAME, "-keyout", key, "-out", path],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        own(path)
        return path, key

    def prepare(self, trusted="receiver", mode="serve", **settings):
        certificates = {name: self.certificate(name) for name in ("receiver", "stranger")}
        self.start_receiver()
        front = Front(*certificates["receiver"], self.receiver.port, mode)
        self.addCleanup(front.close)
        site = self.make_site(**{"receiver.url": '"https://%s:%d"' % (NAME, front.port), "receiver.address": '"127.0.0.1"',
                                 "receiver.ca_file": '"%s"' % certificates[trusted][0], **settings})
        return front, site, site.submit_all(self.repo.notes(12))

    def check_waiting(self, front, site, jobs):
        """No answer that counts: the jobs wait, nothing arrived, and the executor is alive and well."""
        child = site.executor("--once")
        self.running.append(child)
        self.assertEqual(child.wait(90), 1, site.log()[-2000:])
        self.assertGreater(front.dialled, 0)
        self.assertEqual(self.receiver.requests(), [])
        self.assertEqual(site.receipts(), [])
        self.assertEqual(len(site.names("cur")) + len(site.names("new")), len(jobs))

    def test_every_job_goes_through(self):
        front, site, jobs = self.prepare()
        site.once()
        self.assertEqual({site.outcome(job) for job in jobs}, {("SUCCEEDED", None, "APPLIED")})
        self.assertEqual(len(self.receiver.saves_received()), len(jobs))

    def test_a_connection_that_is_too_old_is_replaced(self):
        front, site, jobs = self.prepare(**{"receiver.idle_reuse": '"100ms"'})
        child = site.executor()
        self.running.append(child)
        wait_for("the first jobs", lambda: len(site.receipts()) == len(jobs))
        before = front.dialled
        time.sleep(0.3)
        self.repo.write("later.md", "# Later\n")
        job = site.submit_path(self.repo.commit(), "later.md")
        wait_for("the later job", lambda: site.outcome(job))
        self.assertEqual(site.outcome(job)[0], "SUCCEEDED")
        self.assertGreater(front.dialled, before)
        self.assertEqual(self.stop(child), 0)

    def test_another_authority(self):
        self.check_waiting(*self.prepare(trusted="stranger"))

    def test_a_handshake_that_is_cut(self):
        self.check_waiting(*self.prepare(mode="cut"))


if __name__ == "__main__":
    main()
