#!/usr/bin/python3
"""Bad jobs: each is REJECTED with its reason, the rest goes on, and nothing of it reaches the receiver. Bad files: drops_test.py."""
import os
import time
import uuid

import harness
from harness import SiteTest


class BadNotes(SiteTest):
    def test_what_git_does_not_confirm_is_rejected_and_the_rest_goes_on(self):
        repo = self.repo
        repo.write("good.md", "good\n")
        repo.write("latin.md", "ü\n".encode("latin-1"))
        repo.write("nul.md", b"a\0b\n")
        repo.write("picture.png", bytes(range(256)))
        repo.write("secret.md", "-----BEGIN RSA " + "PRIVATE KEY-----\nabc\n")
        repo.write("big.md", "x" * (5 * 1024 * 1024))
        os.symlink("good.md", os.path.join(repo.work, "link.md"))
        commit = repo.commit()
        repo.write("stray.md", "on no branch\n")
        stray = repo.commit(push=False)
        repo.git("push", "--quiet", repo.mirror, "HEAD:refs/keep/stray")
        harness.own(repo.mirror)
        receiver, site = self.start_receiver(), self.make_site()

        def job(path, content=b"good\n", at=commit, **changes):
            return site.job(at, path, content, **changes)

        cases = [
            (job("good.md"), ("SUCCEEDED", None)),
            (job("latin.md", "ü\n".encode("latin-1")), ("REJECTED", "CONTENT_NOT_TEXT")),
            (job("nul.md", b"a\0b\n"), ("REJECTED", "CONTENT_NOT_TEXT")),
            (job("picture.png", bytes(range(256))), ("REJECTED", "UNSAFE_PATH")),
            (job("secret.md", ("-----BEGIN RSA " + "PRIVATE KEY-----\nabc\n").encode()), ("REJECTED", "SECRET_DETECTED")),
            (job("big.md", b"x" * (5 * 1024 * 1024)), ("REJECTED", "CONTENT_TOO_LARGE")),
            (job("link.md", b"good.md"), ("REJECTED", "UNKNOWN_OBJECT")),
            (job("missing.md"), ("REJECTED", "UNKNOWN_OBJECT")),
            (job("good.md", provenance_hash="0" * 63 + "1"), ("REJECTED", "PROVENANCE_MISMATCH")),
            (job("good.md", object_id="p-other"), ("REJECTED", "OBJECT_ID_MISMATCH")),
            (job("good.md", expected_state="active"), ("REJECTED", "STATE_MISMATCH")),
            (job("stray.md", b"on no branch\n", at=stray), ("REJECTED", "COMMIT_NOT_ON_BRANCH")),
            (job("good.md", source_commit="1" * 40), ("REJECTED", "UNKNOWN_COMMIT")),
            (job("good.md", source_commit="1" * 64), ("REJECTED", "BAD_VALUE")),
            (job("good.md", vault_path="/app/vault/../etc/passwd.md"), ("REJECTED", "UNSAFE_PATH")),
            (job("good.md", created_at="2001-01-01T00:00:00Z"), ("REJECTED", "JOB_TOO_OLD")),
            (job("good.md", created_at="2999-01-01T00:00:00Z"), ("REJECTED", "CREATED_IN_FUTURE")),
            (job("good.md", job_version=2), ("REJECTED", "UNKNOWN_VERSION")),
            (job("good.md", job_version="1"), ("REJECTED", "BAD_TYPE")),
            (job("good.md", job_type="C5_DELETE_OBJECT"), ("REJECTED", "UNKNOWN_JOB_TYPE")),
            (job("good.md", extra=1), ("REJECTED", "UNKNOWN_MEMBER")),
        ]
        for dropped, _ in cases:
            site.drop(dropped)
        site.once()
        for dropped, expected in cases:
            self.assertEqual(site.outcome(dropped["job_id"])[:2], expected, dropped)
        self.assertEqual([r["path"] for r in receiver.saves_received()], ["/app/vault/good.md"])
        self.assertEqual(receiver.files(), ["good.md"])
        self.assertEqual(len(site.names("rejected")), len(cases) - 1)
        self.assertEqual(len(site.names("done")), 1)
        self.assertEqual(len(site.receipts()), len(cases))


class Replays(SiteTest):
    def test_the_idempotency_table(self):
        self.repo.write("a.md", "a\n")
        self.repo.write("b.md", "b\n")
        commit = self.repo.commit()
        receiver, site = self.start_receiver(), self.make_site()
        first = site.job(commit, "a.md", b"a\n")
        replay = dict(first, job_id=str(uuid.uuid4()))
        conflict = dict(first, mission_id=str(uuid.uuid4()))
        other = site.job(commit, "b.md", b"b\n", idempotency_key=first["idempotency_key"])
        site.drop(first)
        site.drop(replay)
        site.drop(conflict)
        site.drop(first, name="%016d.%s.json" % (1_796_044_522_000_001, first["job_id"]))
        site.drop(other)
        site.once()
        self.assertEqual(site.outcome(replay["job_id"]), ("SUCCEEDED", None, "IDEMPOTENT_REPLAY"))
        self.assertEqual(site.outcome(other["job_id"])[:2], ("REJECTED", "IDEMPOTENCY_KEY_CONFLICT"))
        by_sha = {}
        for receipt in site.receipts():
            if receipt["job_id"] == first["job_id"]:
                by_sha.setdefault(receipt["job_sha256"], set()).add((receipt["state"], receipt["reason"]))
        self.assertEqual(sorted(by_sha.values(), key=str), [{("REJECTED", "JOB_ID_CONFLICT")}, {("SUCCEEDED", None)}])
        self.assertEqual(len(receiver.saves_received()), 1)
        # and once more, after everything is final
        site.drop(first, name="%016d.%s.json" % (1_796_044_522_000_002, first["job_id"]))
        again = dict(first, job_id=str(uuid.uuid4()))
        site.drop(again)
        site.once()
        self.assertEqual(site.outcome(again["job_id"]), ("SUCCEEDED", None, "IDEMPOTENT_REPLAY"))
        self.assertEqual(len(receiver.saves_received()), 1)
        self.assertEqual(len(site.names("done")), 3)

    def test_a_job_refused_for_its_age_does_not_answer_for_the_next_one(self):
        self.repo.write("a.md", "a\n")
        commit = self.repo.commit()
        receiver, site = self.start_receiver(), self.make_site()
        old = site.job(commit, "a.md", b"a\n", created_at="2001-01-01T00:00:00Z")
        site.drop(old)
        site.once(code=None)
        self.assertEqual(site.outcome(old["job_id"])[:2], ("REJECTED", "JOB_TOO_OLD"))
        again = dict(old, job_id=str(uuid.uuid4()), created_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))
        site.drop(again)
        site.once()
        self.assertEqual(site.outcome(again["job_id"]), ("SUCCEEDED", None, "APPLIED"))
        self.assertEqual(len(receiver.saves_received()), 1)


if __name__ == "__main__":
    harness.main()
