"""libintray as a program outside of the tree has it: installed into a scratch root, found by pkg-config, compiled strictly. What it shows
of itself, what it brings along, and that a C99 program hands a job to a real site and learns how it ended. BUILD is the build folder,
SOURCE the tree.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile
import time
import unittest
import uuid

import harness

BUILD, SOURCE = pathlib.Path(os.environ["BUILD"]), pathlib.Path(os.environ["SOURCE"])
HERE = pathlib.Path(__file__).parent
OPTIONS = {o["name"]: o["value"] for o in json.loads((BUILD / "meson-info/intro-buildoptions.json").read_text())}
PREFIX, LIBDIR = OPTIONS["prefix"], OPTIONS["libdir"]
SANITIZE = [] if OPTIONS["b_sanitize"] == "none" else ["-fsanitize=" + OPTIONS["b_sanitize"]]
HEADERS = ["error.h", "intray.h", "job.h", "receipt.h", "submit.h"]
C = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-D_POSIX_C_SOURCE=200809L"]
CXX = ["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic"]
COMMIT = "a" * 40


def run(*command, **kwargs):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **kwargs)
    if done.returncode:
        raise AssertionError("%s: %d\n%s%s" % (command[0], done.returncode, done.stdout, done.stderr))
    return done.stdout


class Installed:
    """What "make install" puts under a scratch root, of the library alone."""

    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="intray-library-"))
        self.root.chmod(0o755)
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--tags", "runtime,devel", env=dict(os.environ, DESTDIR=str(self.root)))
        self.prefix = self.root / PREFIX.lstrip("/")
        self.lib = self.prefix / LIBDIR
        self.env = dict(os.environ, PKG_CONFIG_PATH=str(self.lib / "pkgconfig"), PKG_CONFIG_SYSROOT_DIR=str(self.root),
                        PKG_CONFIG_ALLOW_SYSTEM_CFLAGS="1", PKG_CONFIG_ALLOW_SYSTEM_LIBS="1")
        self.flags = {what: self.pkg_config(what).split() for what in ("--cflags", "--libs")}

    def pkg_config(self, *what):
        return run("pkg-config", *what, "intray", env=self.env).strip()

    def compile(self, compiler, source, program, *extra):
        run(*compiler, *SANITIZE, *self.flags["--cflags"], source, *extra, "-o", program, *self.flags["--libs"])
        return program


def setUpModule():
    global installed
    installed = Installed()
    unittest.addModuleCleanup(shutil.rmtree, installed.root)


class Library(unittest.TestCase):
    def test_only_the_versioned_functions_are_seen(self):
        lines = run("nm", "-D", "--defined-only", "--with-symbol-versions", installed.lib / "libintray.so.0").splitlines()
        shown = {line.split()[2].replace("@@", "@") for line in lines if line.split()[1] != "A"}
        kinds = {line.split()[1] for line in lines}
        if not SANITIZE:
            self.assertEqual(kinds, {"A", "T"})
        golden = (HERE / "libintray.symbols").read_text().split()
        self.assertEqual(sorted(shown), golden, "a symbol of a release may be added to, never taken away")
        for name in shown:
            self.assertRegex(name, r"^intray_[a-z0-9_]+@INTRAY_0$")

    def test_every_function_of_the_header_is_there_and_the_reverse(self):
        text = re.sub(r"//[^\n]*", "", (SOURCE / "include/intray/intray.h").read_text())
        declared = set(re.findall(r"\b(intray_\w+)\(", text))
        self.assertEqual(declared, {line.split("@")[0] for line in (HERE / "libintray.symbols").read_text().split()})

    def test_the_page_has_every_function_and_code(self):
        text = re.sub(r"//[^\n]*", "", (SOURCE / "include/intray/intray.h").read_text())
        page = (SOURCE / "docs/man/intray.3").read_text()
        for name in set(re.findall(r"\b(intray_\w+)\(", text)) | set(re.findall(r"\bINTRAY_[A-Z0-9_]+\b", text)):
            self.assertRegex(page, r"\b%s\b" % name)

    def test_it_brings_along_only_what_a_requester_needs(self):
        dynamic = run("readelf", "-d", installed.lib / "libintray.so.0")
        needed = set(re.findall(r"NEEDED.*\[(.*?)\.so", dynamic))
        allowed = {"libfmt", "libsodium", "libcrypto", "libutf8proc", "libstdc++", "libgcc_s", "libc", "libm", "ld-linux-x86-64", "ld-linux-aarch64"}
        self.assertEqual({name for name in needed - allowed if not name.startswith(("libasan", "libubsan"))}, set())
        self.assertIn("[libintray.so.0]", dynamic)

    def test_pkg_config_knows_it(self):
        self.assertEqual(installed.pkg_config("--modversion"), re.search(r"version: '([\d.]+)'", (SOURCE / "meson.build").read_text())[1])
        self.assertIn("-lintray", installed.pkg_config("--libs"))

    def test_each_header_compiles_alone_and_needs_no_new_standard(self):
        self.assertEqual(sorted(os.listdir(installed.prefix / "include/intray")), HEADERS)
        for name in HEADERS:
            for standard in ("c++17", "c++20"):
                run("c++", "-std=" + standard, "-Wall", "-Wextra", "-Wconversion", "-Wold-style-cast", "-Werror", "-pedantic", "-fsyntax-only",
                    *installed.flags["--cflags"], "-x", "c++", "-", input="#include <intray/%s>\n" % name)
        for standard in ("c99", "c11"):
            run("cc", "-std=" + standard, *C[2:], "-fsyntax-only", *installed.flags["--cflags"], "-x", "c", "-",
                input="#include <intray/intray.h>\nint main(void) { return INTRAY_OK; }\n")

    def test_the_examples_of_the_readme_compile(self):
        found = re.findall(r"^```(c|cpp)\n(.*?)^```", (SOURCE / "README.md").read_text(), re.M | re.S)
        self.assertEqual({language for language, _ in found}, {"c", "cpp"})
        for language, text in found:
            source = installed.root / ("example." + ("c" if language == "c" else "cc"))
            source.write_text(text)
            installed.compile(C if language == "c" else CXX, source, installed.root / "example")


class Submit(harness.SiteTest):
    """tests/clients/c/submit.c against a site of its own."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.program = installed.compile(C, SOURCE / "tests/clients/c/submit.c", installed.root / "submit")

    def setUp(self):
        super().setUp()
        self.repo.write("a.md", "# A\n")
        self.commit = self.repo.commit()
        self.content = os.path.join(self.home, "content")
        with open(self.content, "w") as file:
            file.write("# A\n")
        os.chmod(self.content, 0o644)
        self.start_receiver()
        self.site = harness.Site(self.home, self.repo, self.receiver.port)
        self.same = [str(uuid.uuid4()), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), str(uuid.uuid4()), str(uuid.uuid4())]

    def submit(self, wait="none", *args, **kwargs):
        return subprocess.run([str(self.program), self.site.root, self.commit, "a.md", self.content, str(wait), *args], text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **harness.IDS,
                              env={"LD_LIBRARY_PATH": str(installed.lib)}, **kwargs)

    def words(self, done):
        return [line for line in done.stdout.splitlines() if not line.startswith("job ")]

    def test_a_job_is_handed_over_and_its_receipt_awaited(self):
        child = self.site.executor()
        self.running.append(child)
        done = self.submit(30_000_000)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        words = self.words(done)
        self.assertEqual((words[0], words[2]), ("submit OK", "receipt 1 APPLIED"))
        self.assertIn(words[1], ("again OK", "again ALREADY"))  # taken meanwhile, or not
        self.assertEqual(json.loads(words[3])["job_id"], done.stdout.split()[1])
        self.assertEqual(self.receiver.content("a.md"), b"# A\n")
        self.assertEqual(len(self.receiver.saves_applied()), 1)
        child.terminate()
        child.wait(timeout=30)

    def test_without_an_executor_time_runs_out(self):
        done = self.submit(200_000)
        self.assertEqual(self.words(done), ["submit OK", "again ALREADY", "wait TIMEOUT"])

    def test_the_name_of_a_job_that_is_there_and_one_that_another_has(self):
        self.assertEqual(self.words(self.submit("none", *self.same)), ["submit OK", "again ALREADY"])
        self.assertEqual(self.words(self.submit("none", *self.same)), ["submit ALREADY", "again ALREADY"])
        [name] = self.site.names("new")
        with open(self.site.place("new", name), "w") as file:
            file.write("{")
        self.assertEqual(self.words(self.submit("none", *self.same)), ["submit BUSY"])
        self.assertEqual(self.site.names("tmp"), [])
        self.assertEqual(self.site.names("new"), [name])

    def refused(self, word, **kwargs):
        done = self.submit("none", *self.same, **kwargs)
        self.assertEqual(self.words(done), [word], done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def nothing_left(self):
        for folder in ("tmp", "new"):
            if os.path.isdir(self.site.place(folder)):
                self.assertEqual(self.site.names(folder), [])

    def test_a_disk_without_room(self):
        self.refused("submit NO_SPACE", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        self.nothing_left()
        self.assertEqual(self.words(self.submit("none", *self.same)), ["submit OK", "again ALREADY"])

    def test_directories_that_can_not_be_written(self):
        for folder in ("tmp", "new"):
            os.chmod(self.site.place(folder), 0o555)
            self.refused("submit DENIED")
            os.chmod(self.site.place(folder), 0o700)
            self.nothing_left()
        os.chmod(self.site.place("new"), 0)
        self.refused("open DENIED")
        os.chmod(self.site.place("new"), 0o700)

    def test_directories_that_are_not_there(self):
        for folder in ("new", "tmp"):
            os.rename(self.site.place(folder), self.site.place("away"))
            self.refused("open NOT_FOUND")
            os.rename(self.site.place("away"), self.site.place(folder))
        self.nothing_left()

    def test_a_job_that_the_executor_would_refuse_is_refused_before_it_is_sent(self):
        self.same[1] = "2026-01-01T00:00:00Z"
        self.refused("make REFUSED JOB_TOO_OLD")
        self.same[0] = "not an id"
        self.refused("make REFUSED BAD_VALUE")
        self.nothing_left()


class CheckCorpus(unittest.TestCase):
    """tests/clients/c/check_corpus.c says of bytes what the executor would."""

    def test_its_words(self):
        program = installed.compile(C, SOURCE / "tests/clients/c/check_corpus.c", installed.root / "check_corpus")
        job = {"job_version": 1, "job_id": "0b0e5b1c-1111-4222-8333-444455556666", "mission_id": "1b0e5b1c-1111-4222-8333-444455556666",
               "job_type": "C5_SAVE_OBJECT", "object_id": "p-1", "vault_path": "/app/vault/a.md", "source_commit": COMMIT,
               "provenance_hash": "b" * 64, "expected_state": "UNSET", "created_at": "2026-02-28T23:59:59Z",
               "idempotency_key": "2b0e5b1c-1111-4222-8333-444455556666"}
        cases = [(harness.canonical(job), "OK"), (b"", "EMPTY_FILE"), (b"{", "MALFORMED_JSON"), (harness.canonical(job) + b"\n", "NOT_CANONICAL"),
                 (harness.canonical(dict(job, vault_path="/etc/a.md")), "UNSAFE_PATH"), (b"x" * 20_000, "OVERSIZED"),
                 (harness.canonical(dict(job, created_at="2026-03-01T00:05:01Z")), "CREATED_IN_FUTURE"),
                 (harness.canonical(dict(job, created_at="2026-02-21T23:59:59Z")), "JOB_TOO_OLD")]
        lines = []
        for number, (data, _) in enumerate(cases):
            path = installed.root / ("case %d" % number)
            path.write_bytes(data)
            lines.append("save %s\n" % path)
        said = run(program, "--now", "2026-03-01T00:00:00Z", input="".join(lines), env={"LD_LIBRARY_PATH": str(installed.lib)})
        self.assertEqual(said.split(), [word for _, word in cases])
        delete = run(program, "--now", "1772323200000000", input=lines[0].replace("save", "delete", 1), env={"LD_LIBRARY_PATH": str(installed.lib)})
        self.assertEqual(delete.split(), ["UNKNOWN_JOB_TYPE"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
