"""Ledgers of earlier versions, and what is printed of them (tests/testdata/kept_ledgers/README.md)."""

import copy
import gzip
import json
import os
import re
import shutil
import sqlite3

import aasm_case

KEPT = aasm_case.SOURCE / "tests/testdata/kept_ledgers"
TRUST = ("--trust", "trust")
# What the host decides: the verifier's own confinement, and bytes that depend on the SQLite that made a damaged copy.
HOST_LINE = re.compile(r"^  verifier .*$", re.MULTILINE)
DIGEST = re.compile(r"(ledger\.db(?:, \d+ bytes, sha256 |\",\n *\"sha256\": \"))[0-9a-f]{64}")


class Kept(aasm_case.AasmCase):
    initialise = False

    def setUp(self):
        super().setUp()
        self.folders = sorted(path for path in KEPT.iterdir() if path.is_dir())
        self.env["AASM_HOME"] = str(self.root / "no-home")

    def lay_out(self, folder):
        """The files of a kept ledger, in the workspace."""
        for name in ("trust", "trust.keys", "receipt.txt"):
            shutil.copy(folder / name, self.work / name)
        (self.work / "ledger.db").write_bytes(gzip.decompress((folder / "ledger.db.gz").read_bytes()))

    def doctor(self, sql):
        connection = sqlite3.connect(self.work / "ledger.db", isolation_level=None)
        connection.execute(sql)
        connection.close()

    # Case L33.
    def test_a_ledger_of_every_format_so_far_verifies(self):
        self.assertTrue(self.folders)
        for folder in self.folders:
            self.lay_out(folder)
            status, report = self.verify_json("ledger.db", *TRUST)
            self.assertEqual((status, report["verdict"], report["findings"]["total"]), (0, "VERIFIED", 0), report)
            claims = [domain for run in report["runs"]["newest"] for domain in run["report"]["domains"]
                      if domain["claim"] == "denied_before_execution"]
            self.assertEqual([(one["domain"], one["denied_actions"]) for one in claims], [("syscall", 1)])
            status, report = self.verify_json("receipt.txt", *TRUST)
            self.assertEqual((status, report["verdict"]), (0, "VERIFIED"), report)

    # Case L48.
    def test_reports_are_as_they_were(self):
        accepted = False
        for folder in self.folders:
            for name, status, args in self.reports(folder):
                for suffix, options in ((".txt", ()), (".json", ("--format", "json"))):
                    done = self.aasm("verify", *args, *options)
                    self.assertEqual(done.returncode, status, f"{name}: {done.stdout}")
                    accepted |= self.compare(folder / "reports" / (name + suffix), done.stdout)
        if accepted:
            self.skipTest("reports were written anew")

    def saved(self, folder):
        """Reports that the version which wrote the ledger had saved of its runs, each with the run's id."""
        for path in sorted((folder / "saved").glob("*.json")):
            report = json.loads(path.read_text(encoding="utf-8"))
            yield report["run"]["id"], report

    def held_against(self, report):
        path = self.work / "saved.json"
        path.write_text(json.dumps(report, ensure_ascii=False), encoding="utf-8")
        status, verified = self.verify_json("ledger.db", *TRUST, "--report", path)
        return status, [group["code"] for group in verified["findings"]["groups"]], verified

    def test_a_report_saved_then_and_one_of_today_are_those_of_the_run(self):
        for folder in self.folders:
            self.lay_out(folder)
            today = {run["id"]: run["report"] for run in self.verify_json("ledger.db", *TRUST)[1]["runs"]["newest"]}
            compared = 0
            for run, report in self.saved(folder):
                self.assertNotEqual(report, today[run])
                for one in (report, today[run]):
                    status, codes, verified = self.held_against(one)
                    self.assertEqual((status, codes), (0, []), verified)
                    compared += 1
            self.assertGreater(compared, 0)

    def test_a_report_saved_then_and_changed_since_differs(self):
        for folder in self.folders:
            self.lay_out(folder)
            for _run, report in self.saved(folder):
                for change in (lambda one: one["domains"][4].update(claim="observed"),
                               lambda one: one["authority"].update(least_authority=not one["authority"]["least_authority"]),
                               lambda one: one["authority"]["reasons"].append("another"),
                               lambda one: one["domains"][4].pop("decisions"),
                               lambda one: one["policy"].update(source="elsewhere.yaml"),  # half of a report of today
                               lambda one: one.pop("contradictions")):
                    changed = copy.deepcopy(report)
                    change(changed)
                    status, codes, _verified = self.held_against(changed)
                    self.assertEqual((status, codes), (1, ["report_differs"]))

    def reports(self, folder):
        """Name, status and arguments of each; the ledger is as that report wants it."""
        self.lay_out(folder)
        run = self.verify_json("ledger.db", *TRUST)[1]["runs"]["newest"][0]["id"]
        yield "verified", 0, ("ledger.db", *TRUST)
        yield "one-run", 0, ("ledger.db", *TRUST, "--run", run)
        yield "unpinned", 3, ("ledger.db",)
        yield "receipt", 0, ("receipt.txt", *TRUST)
        self.doctor("UPDATE records SET sig=zeroblob(64) WHERE seq=8")
        yield "failed", 1, ("ledger.db", *TRUST, "--run", run)
        self.lay_out(folder)
        self.doctor("DELETE FROM records WHERE seq>=10; ")
        yield "cut", 1, ("ledger.db", *TRUST)
        (self.work / "ledger.db").write_bytes((self.work / "ledger.db").read_bytes()[:17])
        yield "unreadable", 4, ("ledger.db", *TRUST)

    def compare(self, path, said):
        """True when the kept text was replaced."""
        if path.suffix == ".json":
            report = json.loads(said)
            report["confinement"] = {}
            said = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
        said = HOST_LINE.sub("  verifier    (of this host)", DIGEST.sub(r"\1(bytes)", said))
        if os.environ.get("AASM_TEST_ACCEPT"):
            path.write_text(said, encoding="utf-8")
            return True
        self.assertEqual(said, path.read_text(encoding="utf-8"), path.name)
        return False


if __name__ == "__main__":
    aasm_case.main()
