"""The corpus of job files is what its generator writes, and covers what it says it covers."""
import os
import re
import sys
import unittest

CORPUS = os.environ["INTRAY_JOB_CORPUS"]
sys.path.insert(0, CORPUS)
import generate  # noqa: E402


def index():
    with open(os.path.join(CORPUS, "index.tsv"), encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]


class Corpus(unittest.TestCase):
    def test_files_are_what_the_generator_writes(self):
        self.assertEqual(generate.differences(), [])

    def test_each_file_has_one_line_and_lies_where_its_code_says(self):
        rows = index()
        self.assertEqual(sorted(row[0] for row in rows), sorted(generate.present() - {"index.tsv"}))
        for path, kind, expected, clock, object_format, what in rows:
            self.assertEqual(path.split("/")[0], "valid" if expected == "OK" else "invalid", path)
            self.assertIn(kind, ("save", "delete"))
            self.assertIn(object_format, ("sha1", "sha256"))
            self.assertRegex(clock, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertRegex(what, r"^[^\x00-\x1f]{3,160}$", path)
            self.assertRegex(path, r"^(in)?valid/[A-Za-z0-9_]+\.json$")

    def test_both_kinds_and_every_code_that_bytes_alone_can_earn(self):
        codes = {"OK", "EMPTY_FILE", "OVERSIZED", "MALFORMED_JSON", "NOT_CANONICAL", "BAD_TYPE", "UNKNOWN_VERSION", "UNKNOWN_JOB_TYPE", "UNKNOWN_MEMBER",
                 "MISSING_MEMBER", "BAD_VALUE", "UNSAFE_PATH", "CREATED_IN_FUTURE", "JOB_TOO_OLD"}
        for kind in ("save", "delete"):
            self.assertEqual({row[2] for row in index() if row[1] == kind}, codes)
        self.assertGreaterEqual(sum(row[2] == "OK" for row in index()), 40)
        self.assertGreaterEqual(sum(row[2] != "OK" for row in index()), 250)

    def test_a_valid_file_has_a_job_id_of_its_own(self):
        ids = []
        for row in index():
            if row[2] == "OK":
                with open(os.path.join(CORPUS, row[0]), "rb") as file:
                    ids.append(re.search(rb'"job_id":"([0-9a-f-]{36})"', file.read())[1])
        self.assertEqual(len(ids), len(set(ids)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
