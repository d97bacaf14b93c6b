"""aasm policy explain: what it says is what the kernel does under aasm-native.

Random policies over random trees: every attempt is made without a boundary and inside a run, and compared
with what was said of it. AASM_EXPLAIN_PAIRS (default 1200) is the number of attempts.
"""

import errno
import json
import os
import pathlib
import random
import shutil
import stat
import subprocess
import unittest

import jsonschema

import aasm_case

PAIRS = int(os.environ.get("AASM_EXPLAIN_PAIRS", "1200"))
PAIRS_A_RUN = 400
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((aasm_case.SOURCE / "schema/json/printed/policy-explain.schema.json").read_text(encoding="utf-8")))

# Makes the attempts of a file, one line each, and prints their errors in order: 0, or the error's name. Each
# attempt leaves the tree as it was, but for what was made for it alone.
AGENT = r"""
import errno, json, os, stat, sys
def spawned(path):
    child = os.fork()
    if child == 0:
        try:
            os.execv(path, [path])
        except OSError as error:
            os._exit(error.errno)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status:
        raise OSError(status, "")
def size(path):
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
def made(path):
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
def removed(path):
    try:
        os.rmdir(path)
    except NotADirectoryError:
        os.unlink(path)
def attempt(kind, path, other):
    if kind == "read": os.close(os.open(path, os.O_RDONLY))
    elif kind == "write": os.close(os.open(path, os.O_WRONLY))
    elif kind == "truncate": os.truncate(path, size(path))
    elif kind == "execute": spawned(path)
    elif kind == "make": made(path); os.unlink(path)
    elif kind == "mkdir": os.mkdir(path); os.rmdir(path)
    elif kind == "symlink": os.symlink("/nowhere", path); os.unlink(path)
    elif kind == "mkfifo": os.mkfifo(path); os.unlink(path)
    elif kind == "remove": removed(path)
    elif kind == "rename": os.rename(path, other); os.unlink(other)
    elif kind == "link": os.link(path, other); os.unlink(other)
    else: raise RuntimeError(kind)
results = []
for kind, path, other in json.load(open(sys.argv[1])):
    try:
        attempt(kind, path, other)
        results.append("0")
    except OSError as error:
        results.append(errno.errorcode[error.errno])
print(json.dumps(results))
"""

SIMPLE = {"read": "read", "write": "write", "truncate": "write", "execute": "execute", "make": "create",
          "mkdir": "create", "symlink": "create", "mkfifo": "create", "remove": "remove"}
MODES = [0o644, 0o644, 0o755, 0o755, 0o755, 0o000, 0o400, 0o200, 0o100]
DIRECTORY_MODES = [0o755] * 8 + [0o500, 0o300, 0o600]


class Tree:
    """A folder of random folders, files, programs and links, which can be made again the same."""

    def __init__(self, root, seed):
        self.root, self.seed = root, seed
        self.directories, self.files, self.links, self.own = [root], [], [], []
        self.modes = {}

    def build(self):
        self.unlock()
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir()
        self.directories, self.files, self.links, self.modes = [self.root], [], [], {}
        rng = random.Random(self.seed)
        for number in range(24):
            path = rng.choice(self.directories) / f"d{number}"
            path.mkdir()
            self.directories.append(path)
            self.modes[path] = rng.choice(DIRECTORY_MODES)
        for number in range(60):
            path = rng.choice(self.directories) / f"f{number}"
            shutil.copyfile("/bin/true", path)
            self.files.append(path)
            self.modes[path] = rng.choice(MODES)
        for number in range(20):  # programs that are started by others, by way of others now and then
            path = rng.choice(self.directories) / f"s{number}"
            path.write_text(f"#!{rng.choice([*self.files, *self.files, '/bin/true', '/bin/sh', self.root, self.root / 'none'])}\n")
            self.files.append(path)
            self.modes[path] = rng.choice([0o755, 0o755, 0o555, 0o644])
        for number in range(30):
            path = rng.choice(self.directories) / f"l{number}"
            target = rng.choice(self.directories + self.files + self.links + [self.root / "nowhere", path])
            path.symlink_to(target if rng.random() < 0.5 else os.path.relpath(target, path.parent))
            self.links.append(path)
        for path in self.own:
            path.write_text("own\n")
        for path, mode in reversed(self.modes.items()):  # what is in a folder before the folder
            path.chmod(mode)

    def unlock(self):
        for path in self.modes:
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o755)

    def places(self):
        return self.directories + self.files + self.links

    def exists(self, path):
        return os.path.exists(path)


class World(aasm_case.AasmCase):
    def setUp(self):
        super().setUp()
        self.job = self.root / "job.json"
        self.tree = None

    def tearDown(self):
        if self.tree:
            self.tree.unlock()

    def make(self, seed):
        """A tree, a policy over it and attempts, all from `seed`."""
        rng = random.Random(seed)
        if self.tree:
            self.tree.unlock()
        self.tree = Tree(self.work / "tree", seed)
        self.tree.build()
        self.write_policy(self.random_policy(rng))
        attempts = [self.random_attempt(rng, number) for number in range(PAIRS_A_RUN)]
        self.job.write_text(json.dumps(attempts))
        return attempts

    def random_policy(self, rng):
        def some(most, but=()):
            return [str(path) for path in rng.sample(self.tree.places(), rng.randrange(most)) if path not in but]

        def reachable(path):
            try:
                return os.path.exists(os.path.realpath(path, strict=True))
            except OSError:
                return False

        system = ["/usr", "/lib", "/lib64", "/bin", "/etc", "/dev", "/proc", str(self.job)]
        loops = [path for path in self.tree.links if not reachable(path)]
        read = some(14, loops) + ([str(self.tree.root / "nowhere")] if rng.random() < 0.3 else [])
        write = [path for path in some(14, loops) if reachable(path)]
        filesystem = {"read": {"allow": system + read}, "write": {"allow": ["/dev/null", *write]}}
        if rng.random() < 0.6:
            filesystem["execute"] = {"allow": system[:4] + some(14, loops)}
        document = {"filesystem": filesystem}
        if rng.random() < 0.3:
            filesystem["deny"] = some(4, loops)
            document["posture"] = {"default": "degrade_if_unavailable"}
        return json.dumps(document)

    def spelled(self, rng, path):
        """The path as it is, or by way of a parent, or from the working directory."""
        way = rng.random()
        if way < 0.2:
            return f"{path.parent}/../{path.parent.name}/{path.name}"
        return f"./{path.relative_to(self.work)}" if way < 0.5 else str(path)

    def random_attempt(self, rng, number):
        kind = rng.choice([*SIMPLE, "rename", "link"])
        directory = rng.choice(self.tree.directories)
        if kind in ("remove", "rename", "link"):
            own = directory / f"own{number}"
            self.tree.own.append(own)
            other = rng.choice([directory, rng.choice(self.tree.directories)]) / f"new{number}"
            return [kind, self.spelled(rng, own), self.spelled(rng, other)]
        if SIMPLE[kind] == "create" and rng.random() < 0.8:
            parent = rng.choice(self.tree.directories + self.tree.links)
            return [kind, self.spelled(rng, parent / f"new{number}"), ""]
        path = rng.choice(self.tree.places())
        if rng.random() < 0.2:
            path = path / rng.choice(["nowhere", "f1", "x/y"])
        return [kind, self.spelled(rng, path), ""]

    def explained(self, attempts):
        """What was said of each path: {path: {operation: answer}}."""
        asked = sorted({path for attempt in attempts for path in attempt[1:] if path})
        done = self.aasm("policy", "explain", "--policy", self.policy, "--format", "json", *asked)
        said = json.loads(done.stdout)
        SCHEMA.validate(said)
        answers = {one["asked"]: {a["operation"]: a for a in one["answers"]} for one in said["objects"]}
        for path in set(asked) - set(answers):
            self.assertIn("more than 40 symbolic links", done.stderr)
            answers[path] = None
        return said, answers

    def outcomes(self, *before):
        self.tree.build()
        words = [*before, "/usr/bin/python3", "-c", AGENT, str(self.job)]
        done = subprocess.run(words, env=self.env, cwd=self.work, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


def open_to(answer):
    return answer["verdict"] != "denied"


def granted(answer):
    """Whether the right of the operation alone is granted: executing takes that of reading as well, and rights on what the
    file needs, which the note says."""
    return open_to(answer) or any(words in (answer["note"] or "") for words in ("grant to read it as well", "it needs the "))


class EqualsTheKernel(World):
    def check(self, attempt, answers, control, inside):
        """The sentence that is wrong, or None."""
        kind, path, other = attempt
        if answers[path] is None or (other and answers[other] is None):
            return None if control != "0" else "was not explained"
        refusals = {"EACCES"}
        if kind in SIMPLE:
            answer = answers[path][SIMPLE[kind]]
            permitted = open_to(answer)
            if (answer["host_errno"] or "0") != control:
                return f"the host answers {control}, and {answer['host_errno']} was said"
        else:
            refusals.add("EXDEV")
            permitted = open_to(answers[path]["remove"]) and open_to(answers[other]["create"])
            if os.path.dirname(os.path.normpath(path)) != os.path.dirname(os.path.normpath(other)) or kind == "link":
                # Landlock lets nothing move to where more may be done with it.
                permitted = permitted and all(granted(answers[path][right]) or not granted(answers[other][right])
                                              for right in ("read", "execute"))
        if permitted:
            return None if inside == control else f"was said to be open, and is {inside} after {control}"
        if control == "0":
            return None if inside in refusals else f"was said to be denied, and is {inside}"
        return None if inside != "0" else f"went through inside alone"

    # Case 46.
    def test_what_is_said_of_random_paths_is_what_happens(self):
        denied = allowed = 0
        seeds = range((PAIRS + PAIRS_A_RUN - 1) // PAIRS_A_RUN)
        for seed in seeds:
            attempts = self.make(seed)
            self.tree.build()
            said, answers = self.explained(attempts)
            self.assertIn(said["launch"], ("ready", "degraded", "not_measured"), said)
            control = self.outcomes()
            inside = self.outcomes(aasm_case.AASM, "run", "exec", "--policy", self.policy, "--")
            wrong = [(a, sentence) for a, c, i in zip(attempts, control, inside, strict=True)
                     if (sentence := self.check(a, answers, c, i))]
            self.assertEqual(wrong[:5], [], f"seed {seed}, {len(wrong)} wrong\n{self.policy.read_text()}")
            denied += sum(c == "0" and i != "0" for c, i in zip(control, inside, strict=True))
            allowed += sum(c == "0" and i == "0" for c, i in zip(control, inside, strict=True))
        print(f"{len(seeds) * PAIRS_A_RUN} attempts: {allowed} went through, {denied} were refused by the boundary alone")
        # Neither all nor nothing: else this shows little.
        self.assertGreater(min(denied, allowed), PAIRS // 20)

    def test_what_is_said_of_system_calls_is_what_happens(self):
        numbers = {"getpid": 39, "ptrace": 101, "unshare": 272, "kcmp": 312, "mount": 165, "clone3": 435,
                   "io_uring_setup": 425, "bpf": 321, "keyctl": 250, "add_key": 248, "landlock_create_ruleset": 444}
        if os.uname().machine != "x86_64":
            self.skipTest("the numbers are those of x86_64")
        agent = ("import ctypes, sys\nfor n in sys.argv[1:]:\n"
                 " r = ctypes.CDLL(None, use_errno=True).syscall(int(n), 0, 0, 0, 0, 0, 0)\n"
                 " print(ctypes.get_errno() if r < 0 else 0)\n")
        for calls in ('allow: ["@default"]', 'allow: ["@default", unshare], deny: [kcmp, getpid]'):
            base = self.policy.read_text().split("  syscalls:")[0]
            self.write_policy(base + f"  syscalls: {{ {calls} }}\n")
            said = json.loads(self.ok("policy", "explain", "--policy", self.policy, "--format", "json", *numbers).stdout)
            answers = {one["asked"]: one["answers"][0] for one in said["objects"]}
            denied = [name for name in numbers if answers[name]["verdict"] == "denied"]
            done = self.python(agent, *[str(numbers[name]) for name in denied])
            self.assertEqual([int(line) for line in done.stdout.split()],
                             [getattr(errno, answers[name]["errno"]) for name in denied])
            events = {e["object"]["name"]: e for e in self.events()}
            for name in denied:
                self.assertTrue(answers[name]["record"].startswith("one event"))
                self.assertEqual(events[name]["rule"], answers[name]["mechanism_rule"], name)
            self.assertGreater(len(denied), 5)


class Words(aasm_case.AasmCase):
    def explain(self, *what, **more):
        return self.aasm("policy", "explain", "--policy", self.policy, *what, **more)

    def answers(self, *what):
        done = self.explain("--format", "json", *what)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        SCHEMA.validate(said)
        return [a for one in said["objects"] for a in one["answers"]]

    def line_of(self, word):
        return 1 + [word in line for line in self.policy.read_text().splitlines()].index(True)

    def test_the_line_the_mechanism_and_the_record_are_named(self):
        done = self.explain(str(self.secret), "--operation", "read")
        self.assertEqual(done.returncode, 0, done.stderr)
        for words in ("denied (EACCES)", "filesystem.read.allow", f"{self.policy} line {self.line_of('read:')}",
                      "no entry covers it", "by landlock", "record: none"):
            self.assertIn(words, done.stdout)
        [answer] = self.answers(str(self.work / "x"), "--operation", "create")
        self.assertEqual((answer["verdict"], answer["rule"], answer["line"]),
                         ("allowed", "filesystem.write.allow[0]", self.line_of("write:")))

    # A probe would need a directory of its own and leave it in TMPDIR.
    def test_nothing_is_started_or_measured_to_explain(self):
        nowhere = dict(self.env, TMPDIR=str(self.root / "nowhere"))
        first = self.explain("/etc/passwd", "--format", "json", env=nowhere)
        said = json.loads(first.stdout)
        SCHEMA.validate(said)
        self.assertEqual((said["launch"], said["backend"]), ("not_measured", None), first.stderr)
        self.assertEqual([note["word"] for note in said["launch_notes"]], ["not_measured"])
        self.assertIn("a run now was not measured", self.explain("/etc/passwd", env=nowhere).stdout.splitlines()[0])
        self.ok("run", "exec", "--policy", self.policy, "--", "/bin/true")
        after = json.loads(self.explain("/etc/passwd", "--format", "json", env=nowhere).stdout)
        self.assertEqual((after["launch"], after["backend"], after["launch_notes"]), ("ready", "aasm-native", []))
        self.assertEqual(after["objects"], said["objects"])

    def test_links_are_shown_as_they_are_followed(self):
        (self.work / "way").symlink_to("../outside")
        done = self.explain("way/secret.txt")
        self.assertIn(f"way/secret.txt is {os.path.realpath(self.secret)}", done.stdout)
        self.assertIn(f"link {os.path.realpath(self.work)}/way leads to ../outside", done.stdout)
        self.assertIn("denied (EACCES)", done.stdout)

    def test_what_does_not_exist_is_said_beside_the_verdict(self):
        read = self.answers("./none", "--operation", "read")
        self.assertEqual((read[0]["verdict"], read[0]["host_errno"]), ("allowed", "ENOENT"))

    def test_a_domain_that_is_not_stated_is_neither_allowed_nor_denied(self):
        self.assertEqual([(a["operation"], a["verdict"]) for a in self.answers("api.example.com")],
                         [("connect", "not_stated"), ("resolve", "not_stated")])

    def test_what_nothing_here_carries_out_is_not_enforced(self):
        self.policy.write_text(self.policy.read_text() + "  network: { allowlist: ['*.example.org', 'localhost:1'] }\n"
                               "  posture: { network_egress: optional }\n")
        [connect, resolve] = self.answers("www.example.com")
        self.assertEqual((connect["verdict"], connect["policy"]), ("not_enforced", "denied"))
        self.assertEqual((resolve["verdict"], resolve["rule"]), ("denied", "network.allowlist"))
        self.assertEqual([a["verdict"] for a in self.answers("www.example.org", "www.example.org:80")],
                         ["allowed", "allowed", "not_enforced", "allowed"])
        self.ok("run", "exec", "--policy", self.policy, "--", "/bin/true")
        self.assertIn("unmet: network_egress", self.explain("a.example.org").stdout)

    def test_a_run_that_would_be_refused_is_said_first(self):
        self.write_policy(read=[self.home])
        done = self.explain("/etc/passwd")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a run now would be refused", done.stdout.splitlines()[0])
        self.assertIn("grant_covers_evidence", done.stdout)

    def test_arguments_of_a_call_decide(self):
        [ioctl] = self.answers("ioctl")
        self.assertEqual(ioctl["verdict"], "by_arguments")
        self.assertIn("TIOCSTI", ioctl["note"])

    def test_what_has_no_answer_is_an_error_and_the_others_are_answered(self):
        done = self.explain("/proc/self/environ", "/etc/passwd", "no such thing")
        self.assertEqual(done.returncode, 1)
        self.assertIn("names another file for each process", done.stderr)
        self.assertIn("`no such thing` is neither a path", done.stderr)
        self.assertIn("/etc/passwd", done.stdout)

    def test_a_policy_that_does_not_load_explains_nothing(self):
        self.write_policy("filesystm: {}\n")
        done = self.explain("/etc/passwd")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("the policy does not load", done.stderr)

    def test_a_script_takes_its_interpreter_and_that_its_loader(self):
        tool = self.outside / "tool"
        tool.write_text("#!/bin/sh\necho ran\n")
        script = self.work / "script"
        script.write_text(f"#!{tool}\n")
        for path in (tool, script):
            path.chmod(0o755)
        done = self.explain("./script", "--operation", "execute")
        for words in ("denied (EACCES)", f"it needs the interpreter `{tool}`, which is denied", f"interpreter {tool}: denied",
                      f"interpreter {os.path.realpath('/bin/sh')}: allowed"):
            self.assertIn(words, done.stdout)
        self.assertRegex(done.stdout, r"\n    loader      /\S+: allowed, filesystem\.read\.allow")
        [answer] = self.answers("./script", "--operation", "execute")
        self.assertEqual([(one["as"], one["verdict"]) for one in answer["needs"]],
                         [("interpreter", "denied"), ("interpreter", "allowed"), ("loader", "allowed")])
        self.assertEqual((answer["verdict"], answer["policy"], answer["needs"][0]["rule"]),
                         ("denied", "allowed", "filesystem.read.allow"))
        self.assertIn("Permission denied", self.sh("./script").stderr)
        self.write_policy(read=[self.outside])
        [answer] = self.answers("./script", "--operation", "execute")
        self.assertEqual(answer["verdict"], "allowed")
        self.assertEqual(self.sh("./script").stdout, "ran\n")

    def test_a_program_takes_the_loader_it_names(self):
        """A copy of /bin/true that names a loader of ours, which policy grants or not."""
        loader = self.root / "ld"
        own = b"/lib64/ld-linux-x86-64.so.2\0"
        content = pathlib.Path("/bin/true").read_bytes()
        if content.count(own) != 1 or len(str(loader)) >= len(own):
            self.skipTest("the name of a loader of ours does not fit where /bin/true has its own")
        shutil.copyfile("/lib64/ld-linux-x86-64.so.2", loader)
        program = self.work / "program"
        program.write_bytes(content.replace(own, str(loader).encode().ljust(len(own), b"\0")))
        for path in (loader, program):
            path.chmod(0o755)
        for read, verdict, status in (((), "denied", 126), ((loader,), "allowed", 0)):
            self.write_policy(read=read)
            [answer] = self.answers("./program", "--operation", "execute")
            self.assertEqual((answer["verdict"], [one["object"] for one in answer["needs"]]), (verdict, [str(loader)]))
            self.assertEqual(self.sh("./program").returncode, status)
        loader.unlink()
        [answer] = self.answers("./program", "--operation", "execute")
        self.assertEqual(answer["host_errno"], "ENOENT")

    def test_a_datagram_and_a_limit(self):
        self.policy.write_text(self.policy.read_text() + "  network: { egress: [{ host: 192.0.2.0/24, ports: [53], protocol: udp }] }\n"
                               "  resources: { open_files: 64 }\n")
        [sent] = self.answers("192.0.2.7:53/udp")
        self.assertEqual((sent["operation"], sent["verdict"], sent["rule"]), ("connect", "allowed", "network.egress[0].ports[0]"))
        self.assertEqual([one["verdict"] for one in self.answers("192.0.2.7:53", "--operation", "connect")], ["denied"])
        [limit] = self.answers("open_files")
        self.assertEqual((limit["domain"], limit["operation"], limit["verdict"], limit["errno"], limit["rule"]),
                         ("resource", "exceed", "denied", "EMFILE", "resources.open_files"))

    def test_it_writes_nothing_and_needs_no_ledger(self):
        shutil.rmtree(self.home)
        self.assertEqual(self.explain("/etc/passwd").returncode, 0)
        self.assertFalse(self.home.exists())

    def test_usage(self):
        self.assertEqual(self.explain().returncode, 2)
        self.assertEqual(self.explain("/etc", "--operation", "fly").returncode, 2)


if __name__ == "__main__":
    aasm_case.main()
