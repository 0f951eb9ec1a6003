#!/usr/bin/env python3
"""check_layers_test.py CHECK_LAYERS: plants each offence in a tiny clean tree and wants exactly its rule to fire."""
import importlib.machinery
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile

HEAD = "// Purpose: a test.\n#pragma once\n"
CLEAN = {
    "src/base/good.h": HEAD + '#include <string>\n#include "base/other.h"\n#include "limits.h"\n',
    "src/base/other.h": HEAD + "#include <utf8proc.h>\n",
    "src/sys/good.h": HEAD + '#include <sys/types.h>\n#include "base/good.h"\n',
    "src/sys/meson.build": "lib = static_library('sys', 'good.cc')\n",
    "src/sys/good.cc": '#include "good.h"\n// SELECT this FROM that: a comment\nint a = 1\'000; char q = \'"\';\n',
    "src/ledger/sqlite/good.h": HEAD + '#include <sqlite3.h>\nauto s = "PRAGMA foreign_keys=ON";\n',
    "src/executor/good.h": HEAD + '#include "inbox/names.h"\n#include "executor/good.h"\n',
    "src/ledger/sqlite/sql/one.sql": "SELECT a FROM b;\n",
    "tests/unit/sys/good.h": HEAD + '#include <unistd.h>\n#include <sqlite3.h>\n#define SQL "DELETE FROM jobs"\n',
}
CLEAN["include/intray/good.h"] = HEAD + '#include <stdint.h>\n#include <optional>\n#include "other.h"\n'
CLEAN["include/intray/other.h"] = HEAD
LINE = "// a line\n"
# rule, file, text
OFFENCES = [
    ("layer", "src/base/x.h", HEAD + '#include "sys/good.h"\n'),
    ("layer", "src/model/x.h", HEAD + '#include "sys/good.h"\n'),
    ("layer", "src/sys/x.h", HEAD + '#include "model/job.h"\n'),
    ("layer", "src/inbox/x.h", HEAD + '#  include "ledger/ledger.h"\n'),
    ("layer", "src/lease/x.h", HEAD + '#include "executor/good.h"\n'),
    ("layer", "src/executor/x.h", HEAD + '#include "cli/ls.h"\n'),
    ("layer", "src/executor/save/x.h", HEAD + '#include "executor/delete/gates.h"\n'),
    ("door", "src/ledger/x.h", HEAD + "#include <sqlite3.h>\n"),
    ("door", "src/inbox/x.h", HEAD + "#include <git2.h>\n"),
    ("door", "src/source/x.h", HEAD + "#include <curl/curl.h>\n"),
    ("door", "src/receiver/http.h", HEAD + "#include <sodium.h>\n"),
    ("door", "src/base/x.h", HEAD + "#include <toml++/toml.h>\n"),
    ("door", "src/cli/x.h", HEAD + "#include <spdlog/spdlog.h>\n"),
    ("door", "src/model/x.h", HEAD + "#include <utf8proc.h>\n"),
    ("system", "src/base/x.h", HEAD + "#include <unistd.h>\n"),
    ("system", "src/inbox/x.h", HEAD + "#include <sys/stat.h>\n"),
    ("system", "tools/intray/x.h", HEAD + "#include <fcntl.h>\n"),
    ("public", "include/intray/x.h", HEAD + '#include "base/good.h"\n'),
    ("public", "include/intray/x.h", HEAD + "#include <unistd.h>\n"),
    ("public", "include/intray/x.h", HEAD + "#include <fmt/format.h>\n"),
    ("door", "src/cli/x.h", HEAD + "#include <intray/intray.h>\n"),
    ("layer", "src/client/x.h", HEAD + '#include "ledger/ledger.h"\n'),
    ("pure", "src/model/x.h", HEAD + "#include <random>\n"),
    ("pure", "src/model/x.h", HEAD + "auto t = std::chrono::system_clock::now();\n"),
    ("pure", "src/model/x.h", HEAD + 'auto* e = std::getenv("HOME");\n'),
    ("pure", "src/model/x.h", HEAD + "auto t = base::SystemClock{}.wall();\n"),
    ("json-header", "src/model/x.h", HEAD + "#include <nlohmann/json.hpp>\n"),
    ("sql", "src/ledger/sqlite/x.h", HEAD + 'auto s = "SELECT a FROM b";\n'),
    ("sql", "src/ledger/sqlite/x.h", HEAD + 'auto s = R"sql(\nUPDATE jobs\nSET a = 1)sql";\n'),
    ("sql", "src/cli/x.h", HEAD + 'auto s = "PRAGMA foreign_keys=ON";\n'),
    ("sql", "src/cli/x.h", HEAD + 'auto s = "BEGIN IMMEDIATE";\n'),
    ("header", "src/base/x.h", "#pragma once\n"),
    ("header", "src/base/x.h", "// Purpose: a test.\n"),
    ("length", "src/base/x.h", HEAD + LINE * 499),
    ("length", "tools/dev/x", LINE * 501),
    ("word", "docs/x.md", "to be done: TO" "DO\n"),
    ("word", "src/base/x.h", HEAD + "// FIX" "ME\n"),
    ("word", "README.md", "cd /work/" "main\n"),
    ("unbuilt", "src/sys/forgotten.cc", ""),
    ("unbuilt", "tests/support/forgotten.cc", ""),
]


def findings(checker, files):
    with tempfile.TemporaryDirectory() as tree:
        for name, text in files.items():
            path = pathlib.Path(tree, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        check = checker(pathlib.Path(tree))
        if check.run() != len(files):
            sys.exit(f"not every file was looked at: {list(files)}")
    return re.findall(r"^(\S+?):\d+: (\S+): ", "\n".join(check.findings), re.M)


def exit_status(program, tree):
    return subprocess.run([program, "--root", tree], stdout=subprocess.DEVNULL, check=False).returncode


def main():
    loader = importlib.machinery.SourceFileLoader("check_layers", sys.argv[1])
    sys.dont_write_bytecode = True
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_layers", loader))
    loader.exec_module(module)
    failures = 0
    if found := findings(module.Checker, CLEAN):
        failures += 1
        print(f"FAILED: the clean tree has findings: {found}")
    for rule, name, text in OFFENCES:
        if (found := findings(module.Checker, CLEAN | {name: text})) != [(name, rule)]:
            failures += 1
            print(f"FAILED: {rule} in {name} gave {found}\n{text[:200]}")
    if untested := set(module.RULES) - {rule for rule, _, _ in OFFENCES}:
        failures += 1
        print(f"FAILED: no offence planted for {untested}")
    with tempfile.TemporaryDirectory() as tree:
        pathlib.Path(tree, "a.md").write_text("fine\n")
        clean = exit_status(sys.argv[1], tree)
        pathlib.Path(tree, "b.md").write_text("FIX" "ME\n")
        if (clean, exit_status(sys.argv[1], tree)) != (0, 1):
            failures += 1
            print("FAILED: the exit status does not tell a clean tree from another")
    print(f"{len(OFFENCES) + 3 - failures} of {len(OFFENCES) + 3} as expected")
    return 1 if failures else 0


sys.exit(main())
