#!/usr/bin/env python3
"""run_tests_test.py RUN_TESTS: a failure, a crash or a skip must never be counted as passed."""
import importlib.machinery
import importlib.util
import sys

CASES = [
    # result, output, (passed, failed, reasons)
    ("OK", "All tests passed (12 assertions in 5 test cases)", (5, 0, [])),
    ("OK", "All tests passed (1 assertion in 1 test case)", (1, 0, [])),
    ("OK", "no summary", (1, 0, [])),
    ("OK", "SKIPPED: no strace\nAll tests passed (12 assertions in 5 test cases)", (4, 0, ["no strace"])),
    ("OK", "\n-----\nRan 4 tests in 2.1s\n\nOK\n", (4, 0, [])),
    ("OK", "test_x (a.B) ... skipped 'needs root'\nRan 4 tests in 2.1s\n\nOK (skipped=1)\n", (3, 0, ["needs root"])),
    ("FAIL", "Ran 4 tests in 2.1s\n\nFAILED (failures=1, errors=1, skipped=1)\n", (2, 2, [])),
    ("SKIP", "SKIPPED: needs root\nbye", (0, 0, ["needs root"])),
    ("SKIP", "needs root\n", (0, 0, ["needs root"])),
    ("SKIP", "", (0, 0, ["no reason given"])),
    ("FAIL", "test cases:  7 |  5 passed | 2 failed\nassertions: 9 | 7 passed | 2 failed", (5, 2, [])),
    ("FAIL", "test cases:  3 |  3 failed", (0, 3, [])),
    ("FAIL", "All tests passed (12 assertions in 5 test cases)\nleak found at exit", (5, 1, [])),
    ("FAIL", "", (0, 1, [])),
    ("TIMEOUT", "", (0, 1, [])),
    ("ERROR", "", (0, 1, [])),
    ("UNEXPECTEDPASS", "", (0, 1, [])),
]

loader = importlib.machinery.SourceFileLoader("run_tests", sys.argv[1])
sys.dont_write_bytecode = True
run_tests = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
loader.exec_module(run_tests)
failures = 0
for result, output, want in CASES:
    if (got := run_tests.counts(result, output)) != want:
        failures += 1
        print(f"FAILED: {result} {output!r}: {got}, not {want}")
print(f"{len(CASES) - failures} of {len(CASES)} as expected")
sys.exit(1 if failures else 0)
