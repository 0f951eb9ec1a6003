#!/usr/bin/python3
"""The protocol by hand: sh and coreutils hand a job to a real site, see its outcome, and keep the order that durability needs."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness
from harness import SiteTest

HERE = os.path.dirname(os.path.abspath(__file__))
COREUTILS = "cat chmod cut date mktemp mv rm sha256sum sleep sync timeout".split()


class ShellClient(SiteTest):
    def setUp(self):
        super().setUp()
        self.tools = os.path.join(self.home, "bin")  # all that the client finds
        os.mkdir(self.tools)
        for name in COREUTILS:
            os.symlink(shutil.which(name), os.path.join(self.tools, name))
        self.repo.write("Ordner/Übung – 1.md", "hello\n")
        self.commit = self.repo.commit()
        self.start_receiver()
        self.make_site()

    def client(self, name, *args, check=0, before=()):
        done = subprocess.run([*before, "/bin/sh", os.path.join(HERE, name), *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={"PATH": self.tools}, **harness.IDS)
        if check is not None:
            self.assertEqual(done.returncode, check, done.stderr)
        return done

    def build(self):
        path = os.path.join(self.home, "job.json")
        job = self.client("build-save", "Ordner/Übung – 1.md", self.commit, os.path.join(self.repo.work, "Ordner/Übung – 1.md")).stdout
        self.assertEqual(harness.canonical(json.loads(job)), job.encode())
        with open(path, "w", encoding="utf-8") as file:
            file.write(job)
        return path, json.loads(job)["job_id"]

    def hand_over(self, path, **kwargs):
        return self.client("hand-over", self.site.place(), path, **kwargs)

    def test_a_job_goes_through_once_however_often_it_is_handed_over(self):
        path, job_id = self.build()
        self.assertEqual(self.hand_over(path).stdout, job_id + " handed over\n")
        self.assertEqual(self.hand_over(path).stdout, job_id + " already handed over\n")  # it lies in new/
        self.assertEqual((len(self.site.names("new")), self.site.names("tmp")), (1, []))
        self.assertEqual(os.stat(self.site.place("new", self.site.names("new")[0])).st_mode & 0o7777, 0o644)
        self.site.once()
        self.assertEqual(self.client("wait-receipt", self.site.place(), path, "20").stdout, "SUCCEEDED null APPLIED\n")
        self.assertEqual(self.hand_over(path).stdout, job_id + " already handed over\n")  # it has a receipt
        self.site.once()
        self.assertEqual(len(self.receiver.saves_applied()), 1)
        self.assertEqual(self.receiver.content("Ordner/Übung – 1.md"), b"hello\n")
        self.assertEqual(len(self.site.receipts()), 1)

    def test_another_file_of_its_name_is_not_the_job(self):
        path, job_id = self.build()
        self.hand_over(path)
        (name,) = self.site.names("new")
        for data in (b"", b"something else"):
            with open(self.site.place("new", name), "wb") as file:
                file.write(data)
            done = self.hand_over(path, check=1)
            self.assertIn("the name is taken", done.stderr)
            self.assertEqual(self.site.names("tmp"), [])

    def test_a_running_executor_takes_it_at_once(self):
        child = self.run_executor()
        path, job_id = self.build()
        self.hand_over(path)
        self.assertEqual(self.client("wait-receipt", self.site.place(), path, "30").stdout, "SUCCEEDED null APPLIED\n")
        self.stop(child)

    def test_another_job_under_the_same_id_answers_for_nobody(self):
        path, job_id = self.build()
        self.hand_over(path)
        self.site.once()
        with open(path, encoding="utf-8") as file:
            other = file.read().replace("UNSET", "OTHER")
        with open(path + "2", "w", encoding="utf-8") as file:
            file.write(other)
        self.assertEqual(self.client("wait-receipt", self.site.place(), path + "2", "0", check=75).stdout, "")

    def test_the_highest_audit_seq_counts_and_torn_or_unfinished_lines_do_not(self):
        path, job_id = self.build()
        self.hand_over(path)
        self.site.once()
        day = self.site.place("receipts", self.site.names("receipts")[0])
        with open(day, encoding="utf-8") as file:
            line = file.read()
        later = line.replace('"audit_seq":', '"audit_seq":9').replace("APPLIED", "RESOLVED_APPLIED")
        unfinished = line.replace('"audit_seq":', '"audit_seq":99').replace("APPLIED", "NO_EFFECT")
        torn = unfinished[:unfinished.index('"state"') + 12] + "\n"
        with open(day, "w", encoding="utf-8") as file:
            file.write(later + line + torn + line + unfinished.rstrip("\n"))
        self.assertEqual(self.client("wait-receipt", self.site.place(), path, "0").stdout, "SUCCEEDED null RESOLVED_APPLIED\n")

    def test_what_cannot_be_accepted_leaves_nothing(self):
        path, _ = self.build()
        os.chmod(self.site.place("new"), 0o500)
        self.assertIn("not accepted", self.hand_over(path, check=1).stderr)
        os.chmod(self.site.place("new"), 0o700)
        self.assertEqual((self.site.names("new"), self.site.names("tmp")), ([], []))

    @unittest.skipUnless(shutil.which("strace"), "needs strace")
    def test_file_and_directory_are_synced_around_one_rename_that_replaces_nothing(self):
        path, _ = self.build()
        with tempfile.NamedTemporaryFile() as trace:
            os.chmod(trace.name, 0o666)
            self.hand_over(path, before=[shutil.which("strace"), "-f", "-y", "-e", "trace=fsync,rename,renameat,renameat2,link,linkat", "-o", trace.name])
            calls = [re.sub(r"^\d+ +", "", line) for line in trace.read().decode().splitlines()]
        calls = [c for c in calls if not c.startswith(("+++", "---"))]
        self.assertEqual(len(calls), 3, calls)
        self.assertRegex(calls[0], r"^fsync\(\d+<.*/tmp/\d{16}\.[0-9a-f-]{36}\.json\.\w{6}>\) += 0$")
        self.assertRegex(calls[1], r"^renameat2\(AT_FDCWD.*/tmp/.*/new/\d{16}\.[0-9a-f-]{36}\.json\", RENAME_NOREPLACE\) = 0$")
        self.assertRegex(calls[2], r"^fsync\(\d+<.*/new>\) += 0$")


if __name__ == "__main__":
    harness.main()
