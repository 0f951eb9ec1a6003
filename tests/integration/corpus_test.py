#!/usr/bin/python3
"""The corpus of job files (tests/data/jobs) dropped into a running site: each SAVE file is refused with the code its index gives,
in its receipt and in the ledger's table of files, and none of them reaches the receiver.
"""
import hashlib
import os
import re
import sqlite3
import uuid

import harness
from harness import SiteTest

CORPUS = os.environ["INTRAY_JOB_CORPUS"]
UUID4 = rb'"job_id":"([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})"'
# What only a clock or git can say of a file that is good in itself: the corpus has its own clock, this site the machine's.
BEYOND_CONTRACT = {"CREATED_IN_FUTURE", "JOB_TOO_OLD", "UNKNOWN_COMMIT"}


def save_files():
    """(path, expected codes, bytes) of each SAVE file that a SHA-1 site judges as the index says."""
    with open(os.path.join(CORPUS, "index.tsv"), encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    for path, kind, expected, _, object_format, _ in rows:
        if kind == "save" and object_format == "sha1":
            with open(os.path.join(CORPUS, path), "rb") as file:
                yield path, BEYOND_CONTRACT if expected in ("OK", "CREATED_IN_FUTURE", "JOB_TOO_OLD") else {expected}, file.read()


class Corpus(SiteTest):
    def test_every_save_file_ends_with_the_code_of_its_index(self):
        self.repo.write("a.md", "a\n")
        self.repo.commit()
        receiver, site = self.start_receiver(), self.make_site()
        dropped = {}  # name in new/: what it is
        for number, (path, expected, data) in enumerate(save_files()):
            inner = re.search(UUID4, data)
            name = "%016d.%s.json" % (1_796_000_000_000_000 + number, inner[1].decode() if inner else uuid.uuid4())
            site.drop(data, name=name)
            dropped[name] = (path, expected, hashlib.sha256(data).hexdigest())
        self.assertGreater(len(dropped), 500)
        site.once()

        with sqlite3.connect("file:%s?mode=ro" % site.place("ledger", "ledger.db"), uri=True) as ledger:
            recorded = dict(ledger.execute("SELECT name, reason FROM files"))
        receipts = site.receipts()
        self.assertEqual(len(receipts), len(dropped))
        by_hash = {r["job_sha256"]: r for r in receipts if r["job_sha256"]}
        by_name = {r["file_name"]: r for r in receipts if "file_name" in r}
        for name, (path, expected, digest) in dropped.items():
            with self.subTest(path):
                receipt = by_hash.get(digest) or by_name[name]
                self.assertEqual((receipt["state"], receipt["result"]), ("REJECTED", "REFUSED"))
                self.assertIn(receipt["reason"], expected)
                if expected is not BEYOND_CONTRACT:
                    self.assertEqual(recorded[name], receipt["reason"])
        self.assertEqual(site.names("new"), [])
        self.assertEqual(len(site.names("rejected")), len(dropped))
        self.assertEqual(receiver.requests("received"), [])


if __name__ == "__main__":
    harness.main()
