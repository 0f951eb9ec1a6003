"""The client's parser and the executor's, written twice and apart, give the same code for tens of thousands of damaged jobs."""
import os
import random
import struct
import subprocess
import unicodedata
import unittest

import intray

CORPUS = os.environ["INTRAY_JOB_CORPUS"]
JUDGE = os.environ["JUDGE_JOBS"]
ROUNDS = int(os.environ.get("ROUNDS", "20000"))
SCRAPS = [b"1e400", b"-", b"0", b"\\", b"\\u", b'"', b"{", b"}", b"[", b"]", b",", b":", b" ", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"1.0", b"e", b"E+", b"true",
          b"null", b"\\ud83d", b"\\udc00", b"\0", b"\n", b"/", b".", b"..", b"%2f", b"%", b"\xc2\xa0", b"\xcc\x88", b"-0", b"9" * 20]
OURS_IS_NEWER = tuple(map(int, unicodedata.unidata_version.split("."))) > (15, 0, 0)  # than that of Debian 12's utf8proc
PATH_START = b"/app/vault/"


def character(pick):
    """Any one that may stand in UTF-8."""
    while True:
        code = pick.choice((pick.randrange(0x20, 0x3000), pick.randrange(0xA0, 0x10000), pick.randrange(0x10000, 0x110000)))
        if not 0xD800 <= code <= 0xDFFF:
            return chr(code).encode()


def damaged(pick, data):
    out = bytearray(data)
    start = data.find(PATH_START)
    if start >= 0 and pick.random() < 0.35:  # its path alone, so that something reaches the path rules
        for _ in range(pick.randint(1, 3)):
            out[start + len(PATH_START):start + len(PATH_START)] = character(pick)
        return bytes(out)
    for _ in range(pick.randint(1, 4)):
        at, how, scrap = pick.randrange(len(out) + 1), pick.randrange(6), pick.choice(SCRAPS)
        if how == 0:
            out[at:at] = scrap
        elif how == 1:
            del out[at:at + pick.randint(1, 4)]
        elif how == 2:
            out[at:at + 1] = bytes([pick.randrange(256)])
        elif how == 3:
            out[at:at] = character(pick)
        elif how == 4:
            out[at:at + len(scrap)] = scrap
        else:
            copy = pick.randrange(len(out) + 1)
            out[at:at] = out[copy:copy + pick.randint(1, 30)]
    return bytes(out)


def jobs():
    """(kind, bytes) of every file of the corpus that is short."""
    with open(os.path.join(CORPUS, "index.tsv"), encoding="utf-8") as lines:
        rows = [line.split("\t") for line in lines if not line.startswith("#")]
    for path, kind, *_ in rows:
        with open(os.path.join(CORPUS, path), "rb") as file:
            data = file.read()
        if len(data) < 3000:
            yield kind, data


def own_verdict(kind, data):
    try:
        (intray.parse_save if kind == "save" else intray.parse_delete)(data)
    except intray.JobRefused as refused:
        return refused.reason, refused.detail
    return "OK", ""


class Agreement(unittest.TestCase):
    def test_every_damaged_job_earns_one_code(self):
        pick, originals = random.Random(20261101), list(jobs())
        records = [(kind, damaged(pick, data)) for kind, data in pick.choices(originals, k=ROUNDS)]
        judged = subprocess.run([JUDGE], input=b"".join(struct.pack("<I", len(data)) + kind[:1].encode() + data for kind, data in records), check=True,
                                stdout=subprocess.PIPE).stdout.decode().split()
        self.assertEqual(len(judged), len(records))
        for (kind, data), executor in zip(records, judged):
            code, detail = own_verdict(kind, data)
            # A character is unassigned to whichever side has the older Unicode.
            if "(category Cn)" in detail and executor == "OK" or OURS_IS_NEWER and (code, executor) == ("OK", "UNSAFE_PATH"):
                continue
            self.assertEqual(code, executor, "%s: %r" % (kind, data))
        self.assertLessEqual({"OK", "MALFORMED_JSON", "NOT_CANONICAL", "UNSAFE_PATH", "BAD_VALUE", "UNKNOWN_MEMBER", "MISSING_MEMBER"}, set(judged))


if __name__ == "__main__":
    unittest.main(verbosity=2)
