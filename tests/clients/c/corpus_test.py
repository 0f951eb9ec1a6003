"""The C library's own judgement of jobs: the whole corpus, each file under the clock and object format that its index names."""
import collections
import os
import subprocess
import unittest

CORPUS = os.environ["INTRAY_JOB_CORPUS"]


def groups():
    """{(clock, object format): [(kind, file, expected)]}"""
    found = collections.defaultdict(list)
    with open(os.path.join(CORPUS, "index.tsv"), encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("#"):
                path, kind, expected, clock, object_format, _ = line.rstrip("\n").split("\t")
                found[clock, object_format].append((kind, path, expected))
    return found


class Corpus(unittest.TestCase):
    def test_every_file_earns_the_code_of_its_index(self):
        files = 0
        for (clock, object_format), rows in groups().items():
            done = subprocess.run([os.environ["CHECK_CORPUS"], "--now", clock, "--object-format", object_format], cwd=CORPUS, check=True, text=True,
                                  input="".join("%s %s\n" % row[:2] for row in rows), stdout=subprocess.PIPE)
            found = done.stdout.splitlines()
            self.assertEqual(len(found), len(rows))
            for (_, path, expected), word in zip(rows, found):
                files += 1
                with self.subTest(path):
                    self.assertEqual(word, expected)
        self.assertGreater(files, 290)


if __name__ == "__main__":
    unittest.main(verbosity=2)
