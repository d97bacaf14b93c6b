"""Every field report of case-numbers.txt is answered by a test that names it, or is listed as open, and never both."""

import json
import pathlib
import re
import unittest

HERE = pathlib.Path(__file__).resolve().parent
NAMED = re.compile(r"(?:#|//|\"\"\") ?Cases? ((?:L?\d+(?:, | and )?)+)")


def lines(name):
    return [line for line in (HERE / name).read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]


def numbers_in(text):
    return {number for found in NAMED.findall(text) for number in re.findall(r"L?\d+", found)}


def named():
    found = set(json.loads((HERE / "conformance/attacks/cases.json").read_text(encoding="utf-8")))
    for path in (HERE / "conformance/attacks/scenarios").glob("*.json"):
        for scenario in json.loads(path.read_text(encoding="utf-8")).values():
            found |= {str(case) for case in scenario.get("cases", [])}
    for path in [*HERE.rglob("*_test.cc"), *HERE.rglob("*_test.py")]:
        if path != pathlib.Path(__file__).resolve():
            found |= numbers_in(path.read_text(encoding="utf-8"))
    return found | {"L30"}  # stands below


class Cases(unittest.TestCase):
    def setUp(self):
        self.numbers = lines("case-numbers.txt")
        self.open = dict(line.split(" ", 1) for line in lines("cases-open.txt"))
        self.named = named()

    def test_the_pattern_finds_what_tests_write_and_nothing_else(self):
        self.assertEqual(numbers_in("// Cases L4 and L6.\n# Case 9.\n// Case L11: no check\n\"\"\"Case L1. Runs"), {"L4", "L6", "9", "L11", "L1"})
        self.assertEqual(numbers_in("    case 3:\n// case 4\n// In case 5 of\nCase L7"), set())

    def test_numbers_stand_once(self):
        self.assertEqual(len(self.numbers), len(set(self.numbers)))
        self.assertEqual(len(lines("cases-open.txt")), len(self.open))

    def test_every_case_is_named_in_a_test_or_open(self):
        self.assertEqual([number for number in self.numbers if number not in self.named and number not in self.open], [])

    def test_an_open_case_is_named_in_no_test_and_says_what_it_waits_for(self):
        self.assertEqual(sorted(set(self.open) & self.named), [])
        self.assertTrue(all(why.strip() for why in self.open.values()))

    def test_no_other_number_is_used(self):
        self.assertEqual(sorted((self.named | set(self.open)) - set(self.numbers)), [])

    def test_case_l30_one_place_writes_json(self):
        # Case L30 is this test: a second writer of JSON would be a second spelling of what is signed.
        source = HERE.parent
        rooms = ("schema", "ledger", "verifier", "planner", "launcher", "backends", "cli")
        users = {path.relative_to(source).as_posix() for room in rooms for path in (source / room).rglob("*.cc")
                 if re.search(r"\.dump\(|nlohmann", path.read_text(encoding="utf-8"))}
        self.assertLessEqual(users, {"schema/src/json_parse.cc"})
        writers = [path for room in rooms for path in (source / room).rglob("*.cc")
                   if re.search(r"^(std::string|void) json_write\(", path.read_text(encoding="utf-8"), re.MULTILINE)]
        self.assertEqual(len(writers), 1, writers)


if __name__ == "__main__":
    unittest.main()
