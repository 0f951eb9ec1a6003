"""Reading receipts: torn, unfinished, repeated and foreign lines; several for one job; files that come and go."""
import os
import tempfile
import threading
import time
import unittest
from datetime import datetime, timezone
from unittest import mock

import intray
from intray import receipts

COMMIT = "0123456789abcdef0123456789abcdef01234567"
DAY = datetime(2026, 10, 31, tzinfo=timezone.utc)
JOB = intray.SaveJob.new(object_id="a", vault_path="/app/vault/a.md", source_commit=COMMIT, provenance_hash="0" * 64,
                         created_at=datetime(2026, 10, 31, 23, 59, tzinfo=timezone.utc))
HANDED = intray.handed_of(JOB, JOB.to_bytes())
OLD, NEW, NEXT = "2026-10-31.jsonl", "2026-11-01.jsonl", "2026-11-02.jsonl"


def line(seq, **changes):
    value = {"admitted_at": "2026-10-31T23:59:01.000000Z", "attempts": 1, "audit_hash": "a" * 64, "audit_seq": seq, "epoch": 7, "evidence": {"http_status": 200},
             "finished_at": "2026-10-31T23:59:02.000000Z", "job_id": HANDED.job_id, "job_sha256": HANDED.job_sha256, "job_type": "C5_SAVE_OBJECT", "reason": None,
             "receipt_version": 1, "result": "APPLIED", "state": "SUCCEEDED", "worker_id": "0b0e5a1c-7d3f-4a2b-9c8d-1e2f3a4b5c6d"}
    value.update(changes)
    return intray.to_canonical({name: v for name, v in value.items() if v != "drop"}) + b"\n"


class Log(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = folder.name
        self.log = intray.ReceiptLog(self.path)
        quick = mock.patch.multiple(receipts, _PAUSE_FIRST_S=0.001, _PAUSE_MAX_S=0.01)
        quick.start()
        self.addCleanup(quick.stop)

    def append(self, name, *parts):
        with open(os.path.join(self.path, name), "ab") as file:
            file.write(b"".join(parts))

    def seqs(self, since=None):
        return [receipt.audit_seq for receipt in self.log.read(since)]


class Lines(Log):
    def test_every_member_is_there(self):
        receipt = intray.parse_receipt(line(5, reason="SECRET_DETECTED", state="REJECTED", result="REFUSED").rstrip())
        self.assertEqual((receipt.job_id, receipt.job_sha256, receipt.audit_seq, receipt.reason), (HANDED.job_id, HANDED.job_sha256, 5, "SECRET_DETECTED"))
        self.assertEqual((receipt.state, receipt.result, receipt.succeeded, receipt.evidence), ("REJECTED", "REFUSED", False, {"http_status": 200}))
        self.assertIsNone(receipt.file_name)
        self.assertTrue(intray.parse_receipt(line(1).rstrip()).succeeded)

    def test_a_bad_file_has_a_name_and_no_id(self):
        receipt = intray.parse_receipt(line(5, job_id=None, job_sha256=None, file_name="x\\n").rstrip())
        self.assertEqual((receipt.job_id, receipt.file_name), (None, "x\\n"))

    def test_anything_else_is_no_receipt(self):
        good = line(1).rstrip()
        for bad in (b"", b"\0\0\0", b"[]", b"{}", good[:-1], good + b" ", b" " + good, good[40:], good + good, line(1, receipt_version=2).rstrip(),
                    line(1, receipt_version="drop").rstrip(), line(1, state="drop").rstrip(), line(1, state=1).rstrip(), line("1").rstrip(), line(True).rstrip(),
                    line(1, extra=1).rstrip(), line(1, evidence=[]).rstrip(), line(1, job_id=7).rstrip(), line(1, job_id="drop").rstrip(), line(1, file_name=1).rstrip()):
            self.assertIsNone(intray.parse_receipt(bad), bad)

    def test_torn_and_foreign_lines_are_skipped(self):
        for cut in range(1, len(line(2)) - 1, 13):
            self.append(OLD, line(2)[:cut], b"\n")
        self.append(OLD, line(1), b"\0" * 4096 + b"\n", b"x" * 100_000 + b"\n", line(3))
        self.append("notes.txt", line(9))
        self.append("2026-10-31.jsonl.bak", line(9))
        self.assertEqual(self.seqs(), [1, 3])

    def test_days_are_read_in_order_and_from_one_on(self):
        self.append(NEW, line(2))
        self.append(OLD, line(1))
        self.append(NEXT, line(3))
        self.assertEqual(self.seqs(), [1, 2, 3])
        self.assertEqual(self.seqs(datetime(2026, 11, 1, 23, tzinfo=timezone.utc)), [2, 3])

    def test_no_directory_is_an_error(self):
        with self.assertRaises(OSError):
            list(intray.ReceiptLog(os.path.join(self.path, "nowhere")).read())


class Finding(Log):
    def test_id_and_hash_both_count(self):
        self.append(OLD, line(8, job_sha256="b" * 64), line(9, job_id="11111111-2222-4333-8444-555555555555"), line(7, job_sha256=None))
        self.assertIsNone(self.log.find(HANDED))
        self.append(OLD, line(3))
        self.assertEqual(self.log.find(HANDED).audit_seq, 3)

    def test_the_highest_audit_seq_counts_wherever_it_stands(self):
        self.append(OLD, line(5, state="OUTCOME_UNKNOWN", result="UNKNOWN", reason="RESPONSE_LOST"))
        self.append(NEW, line(90, result="RESOLVED_APPLIED"), line(5, state="OUTCOME_UNKNOWN", result="UNKNOWN", reason="RESPONSE_LOST"))
        self.assertEqual(self.log.find(HANDED).result, "RESOLVED_APPLIED")

    def test_wait_sees_what_comes_later_and_not_what_is_unfinished(self):
        self.append(OLD, line(4)[:-1])
        with self.assertRaises(intray.ReceiptTimeout):
            self.log.wait(HANDED, timeout_s=0.05)
        late = threading.Timer(0.1, lambda: self.append(OLD, b"\n"))
        late.start()
        self.assertEqual(self.log.wait(HANDED, timeout_s=20).audit_seq, 4)
        late.join()

    def test_wait_sees_the_next_day(self):
        self.append(OLD, line(1, job_sha256="b" * 64))
        late = threading.Timer(0.05, lambda: self.append(NEW, line(6)))
        late.start()
        self.assertEqual(self.log.wait(HANDED, timeout_s=20).audit_seq, 6)
        late.join()

    def test_a_timeout_is_a_timeout_error(self):
        begin = time.monotonic()
        with self.assertRaises(TimeoutError):
            self.log.wait(HANDED, timeout_s=0.2)
        self.assertGreaterEqual(time.monotonic() - begin, 0.2)


class Watching(Log):
    def test_each_once_across_days_whatever_is_written_again(self):
        seen, steps = [], iter([
            lambda: self.append(OLD, line(1), line(2)[:50]),           # torn in the middle of a line
            lambda: self.append(OLD, b"\n", line(1), line(2)),         # after the crash: a fresh line, and both again
            lambda: self.append(NEW, line(3)),                         # the next day
            lambda: self.append(OLD, line(4)),                         # another worker is still in yesterday
            lambda: self.append(NEW, line(5)[:20]),
            lambda: self.append(NEW, line(5)[20:], line(3)),
            lambda: self.append(NEXT, line(6)),
            lambda: os.unlink(os.path.join(self.path, OLD)),           # pruned
            lambda: self.append(NEXT, line(7)),
        ])

        def stop():
            step = next(steps, None)
            if step:
                step()
            return step is None

        for receipt in self.log.watch(DAY, stop=stop):
            seen.append(receipt.audit_seq)
        self.assertEqual(seen, [1, 2, 3, 4, 5, 6, 7])

    def test_what_is_remembered_is_bounded(self):
        with mock.patch.object(receipts, "KNOWN_RECEIPTS_MAX", 2):
            self.append(OLD, line(1), line(2), line(2), line(3), line(2), line(1))
            self.assertEqual([r.audit_seq for r in self.log.watch(DAY, stop=lambda: True)], [1, 2, 3, 1])

    def test_today_is_where_it_begins(self):
        self.append("2001-01-01.jsonl", line(1))
        self.append("9999-01-01.jsonl", line(2))
        self.assertEqual([r.audit_seq for r in self.log.watch(stop=lambda: True)], [2])


if __name__ == "__main__":
    unittest.main(verbosity=2)
