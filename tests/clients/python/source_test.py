"""The client's source: the oldest Python it promises, nothing but the standard library, whole annotations."""
import ast
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PACKAGE = pathlib.Path(os.environ["INTRAY_PYTHON"]) / "intray"
FILES = sorted(PACKAGE.glob("*.py"))


class Source(unittest.TestCase):
    def test_python_3_9_reads_it(self):
        self.assertGreater(len(FILES), 8)
        for path in FILES:
            ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 9))

    def test_it_needs_the_standard_library_alone(self):
        for path in FILES:
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.level == 0:
                    names = [node.module]
                for name in names:
                    self.assertIn(name.split(".")[0], sys.stdlib_module_names, path.name)

    def test_every_module_class_and_public_function_says_what_it_promises(self):
        for path in FILES:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            self.assertTrue(ast.get_docstring(tree), path.name)
            for node in tree.body:
                if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and not node.name.startswith("_"):
                    self.assertTrue(ast.get_docstring(node), "%s: %s" % (path.name, node.name))

    def test_it_is_marked_as_typed(self):
        self.assertTrue((PACKAGE / "py.typed").is_file())

    @unittest.skipUnless(shutil.which("mypy"), "needs mypy")
    def test_annotations_hold(self):
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run(["mypy", "--strict", "--python-version", "3.9", "--cache-dir", cache, str(PACKAGE)], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
