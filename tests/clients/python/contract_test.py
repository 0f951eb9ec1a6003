"""The client's own judgement of jobs: the whole corpus, and what a corpus of files can't show."""
import os
import unittest
from datetime import datetime, timedelta, timezone

import intray
from intray import timestamp

CORPUS = os.environ["INTRAY_JOB_CORPUS"]
NOW = datetime(2026, 11, 1, tzinfo=timezone.utc)
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def index():
    with open(os.path.join(CORPUS, "index.tsv"), encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("#"):
                path, kind, expected, clock, object_format, what = line.rstrip("\n").split("\t")
                with open(os.path.join(CORPUS, path), "rb") as file:
                    yield path, kind, expected, timestamp.parse(clock), intray.JobRules(object_format=object_format), file.read()


def verdict(kind, data, rules, now):
    try:
        job = (intray.parse_save if kind == "save" else intray.parse_delete)(data, rules)
        if job.to_bytes() != data or intray.check(job, rules, max(now, timestamp.parse(job.created_at))) != data:
            return "written back as something else"
        intray.check_age(job, rules, now)
    except intray.JobRefused as refused:
        return refused.reason
    return "OK"


class Corpus(unittest.TestCase):
    def test_every_file_earns_the_code_of_its_index(self):
        files = 0
        for path, kind, expected, now, rules, data in index():
            files += 1
            with self.subTest(path):
                self.assertEqual(verdict(kind, data, rules, now), expected)
        self.assertGreater(files, 290)


class Building(unittest.TestCase):
    def test_a_save_job_of_a_note_passes_the_check(self):
        job = intray.SaveJob.of_note("Ordner/Übung.md", COMMIT, b"hello\n")
        self.assertEqual(intray.parse_save(intray.check(job)), job)
        self.assertEqual(job.object_id, intray.object_id_of_path("Ordner/Übung.md"))
        self.assertEqual(job.vault_path, "/app/vault/Ordner/Übung.md")

    def test_a_delete_job_passes_the_check(self):
        job = intray.DeleteJob.new(object_id="a", vault_path="/app/vault/a.md", expected_commit=COMMIT, expected_provenance_hash="0" * 64,
                                   approval_id="33333333-4444-4555-a666-777777777777", delete_request_id="22222222-3333-4444-9555-666666666666", created_at=NOW)
        self.assertEqual(intray.parse_delete(intray.check(job, now=NOW)), job)
        self.assertEqual(job.created_at, "2026-11-01T00:00:00.000000Z")

    def test_two_jobs_share_no_id(self):
        a, b = (intray.SaveJob.of_note("a.md", COMMIT, b"") for _ in range(2))
        self.assertEqual(len({a.job_id, b.job_id, a.mission_id, b.mission_id, a.idempotency_key, b.idempotency_key}), 6)

    def test_values_no_file_can_hold_are_refused_with_a_code(self):
        good = intray.SaveJob.of_note("a.md", COMMIT, b"")
        for member, value, code in (("object_id", "\ud800", "MALFORMED_JSON"), ("object_id", None, "BAD_TYPE"), ("object_id", 1, "BAD_TYPE"),
                                    ("object_id", b"a", "BAD_TYPE"), ("object_id", 2**53, "BAD_TYPE")):
            with self.assertRaises(intray.JobRefused) as caught:
                intray.check(intray.SaveJob(**{**good.__dict__, member: value}))
            self.assertEqual(caught.exception.reason, code, repr(value))

    def test_the_clock_is_this_machines_by_default(self):
        early = intray.SaveJob.new(object_id="a", vault_path="/app/vault/a.md", source_commit=COMMIT, provenance_hash="0" * 64,
                                   created_at=datetime.now(timezone.utc) + timedelta(hours=1))
        with self.assertRaises(intray.JobRefused) as caught:
            intray.check(early)
        self.assertEqual(caught.exception.reason, "CREATED_IN_FUTURE")

    def test_other_rules_of_a_site(self):
        job = intray.SaveJob.of_note("a.txt", "a" * 64, b"", vault_root="/srv/notes")
        intray.check(job, intray.JobRules(object_format="sha256", vault_root="/srv/notes", extensions=(".md", ".txt")))
        with self.assertRaises(intray.JobRefused):
            intray.check(job)


class Canonical(unittest.TestCase):
    def test_published_order_and_escapes(self):
        # RFC 8785, 3.2.3: order by UTF-16 code units.
        names = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\x80", "\u00f6"]
        self.assertEqual(intray.to_canonical({name: 1 for name in names}),
                         '{"\\r":1,"1":1,"\x80":1,"\u00f6":1,"\u20ac":1,"\U0001f600":1,"\ufb33":1}'.encode())
        self.assertEqual(intray.to_canonical('\u20ac$\x0f\nA\'B"\\\\"/'), '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'.encode())

    def test_any_spelling_is_read_and_one_is_written(self):
        self.assertEqual(intray.to_canonical(intray.parse_strict(b' {"b": [1, -2, null,true],\r\n"a":"\\u0041\\/\\ud83d\\ude00"} ')),
                         '{"a":"A/\U0001f600","b":[1,-2,null,true]}'.encode())

    def test_values_outside_of_the_contract_are_not_written(self):
        for value, error in ((1.0, TypeError), (2**53, ValueError), ({1: 2}, TypeError), ("\udc00", ValueError), ((), TypeError)):
            with self.assertRaises(error):
                intray.to_canonical(value)

    def test_long_numbers_cost_no_time(self):
        for data in (b"1" * 1_000_000, b"[" + b"1" * 20_000 + b"]", b"1e" + b"9" * 20_000):
            with self.assertRaises(intray.JobRefused) as caught:
                intray.parse_strict(data)
            self.assertEqual(caught.exception.reason, "NOT_CANONICAL")


if __name__ == "__main__":
    unittest.main(verbosity=2)
