"""What "make install" puts where, and the Debian package made of it: contents, owners, modes, dependencies, maintainer scripts, and the
same bytes twice. BUILD is the build folder, SOURCE the tree.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD, SOURCE = pathlib.Path(os.environ["BUILD"]), pathlib.Path(os.environ["SOURCE"])
PREFIX = next(o["value"] for o in json.loads((BUILD / "meson-info/intro-buildoptions.json").read_text()) if o["name"] == "prefix")
PROGRAMS = ["bin/intray", "bin/vault-receiver", "sbin/intray-save", "libexec/intray/intray-connector"]
SCRIPTS = ["postinst", "prerm", "postrm"]


def run(*command, **kwargs):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **kwargs)
    if done.returncode:
        raise AssertionError("%s: %d\n%s%s" % (command[0], done.returncode, done.stdout, done.stderr))
    return done.stdout


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = pathlib.Path(tempfile.mkdtemp(prefix="intray-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.home)


class Install(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", env=dict(os.environ, DESTDIR=str(cls.home)))
        cls.prefix = cls.home / PREFIX.lstrip("/")

    def test_programs_run_from_there(self):
        for name in PROGRAMS:
            self.assertTrue(os.access(self.prefix / name, os.X_OK), name)
            self.assertIn(pathlib.Path(name).name, run(self.prefix / name, "--version"))

    def test_nothing_lands_outside_of_the_prefix_but_profiles(self):
        files = [p.relative_to(self.home) for p in self.home.rglob("*") if p.is_file()]
        outside = {str(p) for p in files if not str(p).startswith(PREFIX.lstrip("/") + "/")}
        self.assertEqual(outside, {"etc/apparmor.d/intray-save", "etc/apparmor.d/intray-connector"})

    def test_the_python_client_is_whole_and_runs_from_there(self):
        package = next(self.prefix.glob("lib/python3*/dist-packages/intray"))
        wanted = {p.name for p in (SOURCE / "tools/python/intray").iterdir() if p.is_file()}
        self.assertEqual({p.name for p in package.iterdir()}, wanted)
        self.assertIn("py.typed", wanted)
        said = run("python3", "-B", "-c", "import intray; print(intray.__file__, intray.SaveJob.of_note('a.md', 'a' * 40, b'').vault_path)",
                   env=dict(os.environ, PYTHONPATH=str(package.parent)), cwd=self.home)
        self.assertEqual(said, "%s/__init__.py /app/vault/a.md\n" % package)

    def test_every_page_is_installed(self):
        pages = {p.name for p in (SOURCE / "docs/man").glob("*.[1-9]")}
        self.assertEqual({p.name for p in (self.prefix / "share/man").rglob("*.[1-9]")}, pages)

    def test_units_users_directories_modules_and_documents(self):
        for name in ["lib/systemd/system/intray-save.service", "lib/systemd/system/intray-save-connector.socket",
                     "lib/systemd/system/intray-save-connector@.service", "lib/systemd/system/intray-save.service.d/50-apparmor.conf",
                     "lib/systemd/system/intray-save-connector@.service.d/50-apparmor.conf", "lib/sysusers.d/intray.conf",
                     "lib/sysusers.d/intray-save.conf", "lib/tmpfiles.d/intray.conf", "share/intray/selinux/intray_save.te", "share/intray/seccomp/save.oci.json",
                     "lib/systemd/system/intray-save.service.d/50-system-calls.conf",
                     "share/intray/selinux/intray_save.fc", "share/doc/intray/packaging.md", "share/doc/intray/protocol.md", "share/doc/intray/examples/receiver.conf"]:
            self.assertTrue((self.prefix / name).is_file(), name)
        for unit in ("intray-save.service", "intray-save-connector@.service"):
            program = re.search(r"^ExecStart=(\S+)", (self.prefix / "lib/systemd/system" / unit).read_text(), re.M)[1]
            self.assertTrue((self.home / program.lstrip("/")).exists(), program)

    def test_no_placeholder_is_left(self):
        for path in self.home.rglob("*"):
            if path.is_file() and path.suffix not in (".pp", ".1", ".3", ".5", ".8") and path.stat().st_size < 100_000:
                self.assertIsNone(re.search(rb"@[a-z]+dir@", path.read_bytes()), path)

    def test_the_connectors_root_is_empty(self):
        root = self.prefix / "lib/intray/connector-root"
        self.assertIn("usr", os.listdir(root))
        self.assertEqual([p for p in root.rglob("*") if not p.is_dir()], [])


def folder_for_usr(home):
    """A package is made with /usr. Where the build folder is set up for another prefix: one beside it with the same programs, which know no
    prefix, and everything that does know it (units, policies, filters) made anew.
    """
    if PREFIX == "/usr":
        return BUILD
    folder = home / "build"
    run("meson", "setup", "--prefix=/usr", folder, SOURCE)
    made = [name for target in json.loads(run("meson", "introspect", "--targets", folder)) if target["type"] == "custom" and target["installed"]
            for name in target["filename"]]
    run("ninja", "-C", folder, *(os.path.relpath(name, folder) for name in made))
    for name in ("intray", "vault-receiver", "intray-save", "intray-connector"):
        shutil.copy2(BUILD / "tools" / name / name, folder / "tools" / name / name)
    for library in (BUILD / "src/client").glob("libintray.so*"):
        if not library.is_dir():
            shutil.copy2(library, folder / "src/client" / library.name, follow_symlinks=False)
    return folder


class Package(Folder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.build = folder_for_usr(cls.home)
        cls.deb = pathlib.Path(run(SOURCE / "tools/debian/build-deb", cls.build, cls.home).strip())
        cls.control = cls.home / "control"
        run("dpkg-deb", "--control", cls.deb, cls.control)
        # "drwxr-xr-x root/root 0 2026-01-01 00:00 ./usr/bin/"
        cls.listing = [line.split(None, 5) for line in run("dpkg-deb", "--contents", cls.deb).splitlines()]
        cls.names = [row[5].removeprefix(".") for row in cls.listing]

    def field(self, name):
        return run("dpkg-deb", "--field", self.deb, name).strip()

    def test_the_same_bytes_again(self):
        again = self.home / "again"
        again.mkdir()
        second = pathlib.Path(run(SOURCE / "tools/debian/build-deb", self.build, again).strip())
        self.assertEqual(second.name, self.deb.name)
        self.assertEqual(second.read_bytes(), self.deb.read_bytes())

    def test_everything_is_roots_and_nobody_else_writes(self):
        links = [name for mode, *_, name in self.listing if mode[0] == "l"]
        self.assertEqual([link.split("/")[-1] for link in links], ["libintray.so -> libintray.so.0", "libintray.so.0 -> libintray.so.0.1.0"])
        for mode, owner, *_, name in self.listing:
            self.assertEqual(owner, "root/root", name)
            if mode[0] == "l":
                continue
            self.assertTrue(mode[0] in "d-", name)
            self.assertEqual((mode[5], mode[8]), ("-", "-"), name)
            self.assertNotIn("s", mode, name)

    def test_it_brings_no_data_no_settings_and_no_link_that_starts_something(self):
        for name in self.names:
            self.assertFalse(name.startswith(("/var", "/etc/intray", "/run", "/etc/systemd", "/home", "/usr/local")), name)
            self.assertNotIn(".wants/", name)
        for program in PROGRAMS:
            self.assertIn("/usr/" + program, self.names)
        self.assertIn("/usr/lib/python3/dist-packages/intray/__init__.py", self.names)

    def test_dependencies_are_those_of_the_programs(self):
        depends = {word.split()[0] for word in self.field("Depends").split(",")}
        self.assertLessEqual({"libc6", "libcurl4", "libsqlite3-0", "libgit2-1.5", "libsodium23", "systemd", "apparmor"}, depends)
        self.assertNotIn("@", self.field("Depends"))

    def test_the_library_is_whole_and_announced(self):
        files = {pathlib.PurePosixPath(name.split(" -> ")[0]).name for name in self.names}
        self.assertLessEqual({"libintray.so", "libintray.so.0", "intray.pc", "intray.h", "submit.h", "intray.3.gz"}, files)
        self.assertEqual((self.control / "shlibs").read_text(), "libintray 0 intray\n")
        self.assertEqual((self.control / "triggers").read_text(), "activate-noawait ldconfig\n")

    def test_profiles_are_configuration(self):
        self.assertEqual((self.control / "conffiles").read_text().split(), ["/etc/apparmor.d/intray-connector", "/etc/apparmor.d/intray-save"])

    def test_scripts_are_sound(self):
        for name in SCRIPTS:
            text = (self.control / name).read_text()
            run("sh", "-n", self.control / name)
            self.assertTrue(text.startswith("#!/bin/sh\n"), name)
            self.assertRegex(text, r"(?m)^set -e$")
            self.assertNotRegex(text, r"\brm\b|userdel|deluser|systemctl (--now )?(enable|start|restart)\b")

    def test_purge_keeps_the_data_and_says_so(self):
        script = (self.control / "postrm").read_text().replace("/var/lib/intray", "%s/data" % self.home)
        (self.home / "data").mkdir()
        (self.home / "data/ledger.db").touch()
        (self.home / "postrm").write_text(script)
        said = run("sh", self.home / "postrm", "purge")
        self.assertIn("%s/data is kept" % self.home, said)
        self.assertTrue((self.home / "data/ledger.db").exists())

    def test_sums_match(self):
        unpacked = self.home / "unpacked"
        run("dpkg-deb", "--extract", self.deb, unpacked)
        run("md5sum", "--quiet", "-c", self.control / "md5sums", cwd=unpacked)

    def test_units_and_policies_name_what_is_in_the_package(self):
        tree = self.home / "tree"
        run("dpkg-deb", "--extract", self.deb, tree)
        named = set()
        for path in [*tree.glob("usr/lib/systemd/system/*.service"), *tree.glob("etc/apparmor.d/intray-*"), *tree.glob("usr/share/intray/selinux/*.fc")]:
            named |= set(re.findall(r"/usr/[a-z/]*/intray[a-z-]*\b(?!/)", path.read_text()))
        self.assertLessEqual({"/usr/bin/intray", "/usr/sbin/intray-save", "/usr/libexec/intray/intray-connector"}, named)
        for name in named:
            self.assertTrue((tree / name.lstrip("/")).exists(), name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
