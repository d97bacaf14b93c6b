#!/usr/bin/env python3
"""The judge is able to say no: each fault put into a true trial is found, and the true trial is not faulted."""

import copy
import json
import pathlib
import unittest

import judge
import trial
import world

HERE = pathlib.Path(__file__).resolve().parent


def scenario(family, name):
    return json.loads((HERE / "scenarios" / f"{family}.json").read_text())[name]


class Judge(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = shared = world.Shared()
        cls.call = scenario("syscall", "name_to_handle_at")
        cls.called = trial.run_inside(shared, cls.call, "grandchild")
        cls.read = scenario("filesystem", "read")
        cls.refused = trial.run_inside(shared, cls.read, "child")
        cls.chmod = scenario("filesystem", "chmod")
        cls.changed = trial.run_inside(shared, cls.chmod, "child")

    def complaints(self, kind="call", fault=None, depth=None, **members):
        wanted = {**getattr(self, kind), **members}
        seen = copy.deepcopy({"call": self.called, "read": self.refused, "chmod": self.changed}[kind])
        if fault is not None:
            fault(seen)
        return judge.judge_inside(wanted, seen, depth or ("grandchild" if kind == "call" else "child"))

    def assert_found(self, kind, *faults):
        for number, fault in enumerate(faults):
            with self.subTest(kind=kind, fault=number):
                self.assertNotEqual(self.complaints(kind, fault), [])

    def test_the_true_trials_are_as_expected(self):
        for kind in ("call", "read", "chmod"):
            self.assertEqual(self.complaints(kind), [])

    def test_an_outcome_effect_or_side_effect_that_is_not_expected_is_found(self):
        self.assert_found("read", lambda seen: setattr(seen, "outcome", "0"),
                          lambda seen: setattr(seen, "outcome", "ENOENT"),
                          lambda seen: setattr(seen, "outcome", ""),
                          lambda seen: setattr(seen, "happened", True),
                          lambda seen: setattr(seen, "disturbed", ("policy",)),
                          lambda seen: setattr(seen, "status", 0),
                          lambda seen: setattr(seen, "timed_out", True),
                          lambda seen: setattr(seen, "records", []),
                          lambda seen: setattr(seen, "verified", "INCONCLUSIVE"))

    def test_a_success_is_accepted_only_where_the_run_itself_declares_it(self):
        self.assert_found("chmod", lambda seen: seen.capabilities["filesystem_write"]["limitations"].clear(),
                          lambda seen: seen.capabilities.clear(),
                          lambda seen: setattr(seen, "happened", False),
                          lambda seen: setattr(seen, "outcome", "EPERM"))

    def test_a_record_that_differs_in_one_member_is_found(self):
        def put(name, value):
            return lambda seen: seen.events()[0].update({name: value})

        self.assert_found("call", put("rule", "self_protection.kcmp"), put("errno", 38), put("cause", "compat"),
                          put("outcome", "allowed"), put("count", 2), put("pid", 1), put("parents", []),
                          put("parents", list(self.called.events()[0]["parents"])[:-1]), put("operation", "open"),
                          put("timing", "post"), put("domain", "ipc"),
                          put("object", {"name": "kcmp", "type": "syscall"}))

    def test_a_missing_and_a_further_record_are_found(self):
        def drop(seen):
            seen.bodies("decision.batch")[0]["events"].clear()

        def double(seen):
            batch = seen.bodies("decision.batch")[0]["events"]
            batch.append(copy.deepcopy(batch[0]))

        self.assert_found("call", drop, double)

        def invent(seen):
            seen.records.append({"kind": "decision.batch", "body": {"events": copy.deepcopy(self.called.events())}})

        self.assert_found("read", invent)

    def test_a_claim_that_the_records_do_not_carry_is_found(self):
        def claim(domain, name, value):
            def fault(seen):
                [entry] = [one for one in seen.report["domains"] if one["domain"] == domain]
                entry[name] = value
            return fault

        self.assert_found("read", claim("filesystem_read", "claim", "denied_before_execution"),
                          claim("filesystem_read", "boundary", "absent"), claim("syscall", "denied_actions", 1),
                          lambda seen: seen.report.clear())
        self.assert_found("call", claim("syscall", "claim", "unmeasured"), claim("syscall", "denied_actions", 2),
                          claim("syscall", "channel", {"state": "lossy", "number": 1}))

    def test_an_end_that_the_record_tells_otherwise_is_found(self):
        self.assert_found("call", lambda seen: seen.bodies("run.closed")[0].update(ending="evidence_failure"),
                          lambda seen: seen.bodies("process.exited")[0].update(status=0),
                          lambda seen: seen.bodies("run.closed")[0]["channel"].update(dropped=1))

    def test_a_run_without_the_boundary_is_a_finding(self):
        for family, name in (("filesystem", "read"), ("filesystem", "rename_out"), ("filesystem", "execute_readable"),
                             ("syscall", "name_to_handle_at"), ("credential", "keys_listed"),
                             ("self_protection", "is_supervisor_alive"), ("evidence", "unlink_ledger")):
            with self.subTest(scenario=f"{family}.{name}"):
                open_to_all = {**scenario(family, name), "options": ["--isolation", "none"]}
                seen = trial.run_inside(self.shared, open_to_all, "child")
                self.assertTrue(seen.happened)
                found = judge.judge_inside(open_to_all, seen, "child")
                self.assertTrue(any("FINDING" in text for text in found), found)

    def test_a_control_without_effect_proves_nothing(self):
        seen = copy.deepcopy(self.refused)
        self.assertNotEqual(judge.judge_control(self.read, seen), [])
        seen.happened = True
        self.assertEqual(judge.judge_control(self.read, seen), [])
        seen.timed_out = True
        self.assertNotEqual(judge.judge_control(self.read, seen), [])


if __name__ == "__main__":
    unittest.main()
