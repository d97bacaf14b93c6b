"""Field reports of other sandboxes, each tried with a whole run."""

import os
import pathlib
import shutil
import signal
import stat
import subprocess
import time
import unittest

import aasm_case

EVERY_LAYER = """filesystem:
  read: {{ allow: [/usr, /lib, /lib64, /bin, /etc, /dev, "${{WORKDIR}}"] }}
  write: {{ allow: ["${{WORKDIR}}", /dev/null] }}
  execute: {{ allow: [/usr, /lib, /lib64, /bin, "${{WORKDIR}}"] }}
syscalls: {{ allow: ["@default"] }}
credentials: {{ environment: {{ allow: [PATH, LANG] }}, descriptors: {{ allow: [0, 1, 2] }} }}
{more}"""


class Workspace(aasm_case.AasmCase):
    def listing(self):
        """Everything that a listing of the workspace shows: names, types, modes, times, contents."""
        found = {}
        for folder, folders, files in os.walk(self.work):
            for name in [".", *folders, *files]:
                path = os.path.join(folder, name)
                facts = os.lstat(path)
                content = pathlib.Path(path).read_bytes() if stat.S_ISREG(facts.st_mode) else None
                found[path] = (facts.st_mode, facts.st_uid, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_ino, content)
        return found

    # Case 4.
    def test_a_run_leaves_the_workspace_as_it_was_also_when_it_is_killed(self):
        (self.work / "source").mkdir()
        (self.work / "source/file").write_text("x")
        (self.work / ".rc").symlink_to("source/file")
        before = self.listing()
        self.assertEqual(self.sh("exit 3").returncode, 3)
        self.assertEqual(self.listing(), before)
        self.assertEqual(self.run_exec("/no/such/program").returncode, 127)
        self.assertEqual(self.listing(), before)
        run = self.start("/bin/sh", "-c", "echo up; exec sleep 60")
        self.assertEqual(run.stdout.readline(), "up\n")
        run.send_signal(signal.SIGKILL)
        run.communicate()
        self.assertEqual(self.listing(), before)

    # Case 12.
    def test_folders_are_renamed_where_they_may_be_written(self):
        done = self.sh("mkdir d && echo x > d/f && mv d e && mkdir -p deep/er && mv e deep/er/e && cat deep/er/e/f")
        self.assertEqual((done.returncode, done.stdout), (0, "x\n"), done.stderr)

    # Case 11.
    def test_names_move_and_are_linked_between_folders_under_every_layer(self):
        self.write_policy(EVERY_LAYER.format(more=""))
        done = self.sh("set -e; echo f > f; echo g > g; mkdir new; mv f new/f; ln g new/g; cat new/f new/g")
        self.assertEqual((done.returncode, done.stdout), (0, "f\ng\n"), done.stderr)
        [plan] = self.bodies("plan.resolved")
        self.assertEqual({o["domain"]: o["kind"] for o in plan["outcomes"]},
                         dict.fromkeys(("filesystem_read", "filesystem_write", "syscall", "credential"), "enforced"))

    # What a build does: it compiles into one folder, and links and renames into others.
    @unittest.skipUnless(shutil.which("cc") and shutil.which("make"), "no compiler")
    def test_a_build_works_under_every_layer(self):
        self.write_policy(EVERY_LAYER.format(more=""))
        (self.work / "main.c").write_text("#include <stdio.h>\nint main(void) { return puts(\"built\") < 0; }\n")
        (self.work / "Makefile").write_text(
            "all: bin/main\n\t./bin/main\n"
            "bin/main: obj/main.o\n\tmkdir -p bin stage\n\tcc -o stage/main $<\n\tmv stage/main bin/main\n\tln -f bin/main bin/again\n"
            "obj/main.o: main.c\n\tmkdir -p obj\n\tcc -c -o $@.part $<\n\tmv $@.part $@\n")
        done = self.run_exec("/usr/bin/make", "-s", env={**self.env, "TMPDIR": str(self.work)})
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)  # no TMPDIR is passed on, and /tmp is not granted
        self.write_policy(EVERY_LAYER.format(more="").replace("[PATH, LANG]", "[PATH, LANG, TMPDIR]"))
        done = self.run_exec("/usr/bin/make", "-s", env={**self.env, "TMPDIR": str(self.work)})
        self.assertEqual((done.returncode, done.stdout), (0, "built\n"), done.stderr)


    # Case 11, with what it was reported of. The toolchain itself and not the `cargo` of rustup, which looks for one.
    def test_cargo_build_works_under_every_layer(self):
        toolchain = cargo_toolchain()
        if toolchain is None:
            self.skipTest("no cargo that this user may run; make and cc are tried above")
        self.write_policy(EVERY_LAYER.format(more="").replace("[/usr,", f'["{toolchain}", /usr,')
                          .replace("[PATH, LANG]", "[PATH, LANG, TMPDIR, CARGO_HOME]"))
        (self.work / "src").mkdir()
        (self.work / "src/main.rs").write_text('mod other;\nfn main() { println!("{}", other::WORD); }\n')
        (self.work / "src/other.rs").write_text('pub const WORD: &str = "built";\n')
        (self.work / "Cargo.toml").write_text('[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n')
        env = {**self.env, "TMPDIR": str(self.work), "CARGO_HOME": str(self.work / ".cargo"),
               "PATH": f"{toolchain}/bin:{self.env['PATH']}"}
        for word in ("built", "again"):  # the second build is by what the first left behind
            (self.work / "src/other.rs").write_text(f'pub const WORD: &str = "{word}";\n')
            done = self.run_exec(f"{toolchain}/bin/cargo", "run", "--quiet", "--offline", env=env)
            self.assertEqual((done.returncode, done.stdout), (0, word + "\n"), done.stderr)

    # Case 85. No tree is walked and no list of files goes to a command: a workspace costs a launch nothing. AASM_LARGE_TREE=300000
    # is the long form.
    def test_a_large_workspace_with_a_folder_that_cannot_be_read_starts(self):
        prefixes = [self.work / f"x{number}" for number in range(15)]
        for prefix in prefixes:
            prefix.mkdir()
        granted = ", ".join(f'"{prefix}"' for prefix in prefixes)
        self.write_policy(EVERY_LAYER.format(more="").replace('"${WORKDIR}"', granted).replace("]\n", "]\n", 1))

        def launch():
            begin = time.monotonic()
            done = self.run_exec("/bin/cat", str(prefixes[7] / "0/f0"))
            return time.monotonic() - begin, done

        (prefixes[7] / "0").mkdir()
        (prefixes[7] / "0/f0").write_text("found\n")
        small = min(launch()[0] for _ in range(3))
        grown = plant(prefixes, int(os.environ.get("AASM_LARGE_TREE", "3000")))
        closed = prefixes[3] / "closed"
        closed.mkdir(mode=0)
        self.addCleanup(closed.chmod, 0o700)
        records = len(self.bodies("control.prepared"))
        large = []
        for _ in range(3):
            took, done = launch()
            self.assertEqual((done.returncode, done.stdout), (0, "found\n"), done.stderr)
            large.append(took)
        self.assertEqual(len(self.bodies("control.prepared")), records)
        print(f"{grown} files: {1000 * small:.0f} ms before, {1000 * min(large):.0f} ms with them")
        if "AASM_LARGE_TREE" in os.environ:
            self.assertLess(min(large), small + 0.1)


def plant(folders, count):
    """Makes `count` files, a thousand a folder."""
    made = 0
    while made < count:
        folder = folders[made // 1000 % len(folders)] / str(made // 1000 + 1)
        folder.mkdir()
        for number in range(min(1000, count - made)):
            os.close(os.open(folder / f"f{number}", os.O_CREAT | os.O_WRONLY))
        made += min(1000, count - made)
    return made


def cargo_toolchain():
    """The folder of a Rust toolchain that this user may run, or None."""
    for rustc in ("rustc", os.path.expanduser("~/.cargo/bin/rustc")):
        try:
            done = subprocess.run([rustc, "--print", "sysroot"], capture_output=True, text=True, timeout=60, check=False)
        except OSError:
            continue
        folder = pathlib.Path(done.stdout.strip())
        if done.returncode == 0 and (folder / "bin/cargo").exists() and shutil.which("cc"):
            return folder
    return None


class MissingBackends(aasm_case.AasmCase):
    """Nothing is passed over in silence: neither a backend nor the words of what there is."""

    def refused(self, *options):
        done = self.run_exec("/bin/sh", "-c", "echo ran", options=options)
        self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        [record] = self.bodies("plan.refused")
        self.assertNotIn("process.started", [r["kind"] for r in self.records()])
        return done, record

    # Case 86.
    def test_a_class_without_a_backend_is_refused_in_words_that_say_what_there_is(self):
        classes = {"userspace-kernel": "gvisor", "microvm": "microvm"}
        for isolation, backend in classes.items():
            for options in (("--isolation", isolation), ("--isolation-backend", backend),
                            ("--isolation", isolation, "--isolation-backend", backend)):
                with self.subTest(options=options):
                    done, record = self.refused(*options)
                    self.assertIn("backend_unavailable", done.stderr)
                    self.assertIn(f"backend {backend} cannot be used here: not built in this version, which has "
                                  "aasm-native (class process)", done.stderr)
                    verdicts = {c["backend"]: c["verdict"] for c in record["candidates"]}
                    self.assertEqual(verdicts.pop(backend), "rejected_unavailable")
                    self.assertEqual(set(verdicts.values()), {"not_considered"})
                    self.assertEqual(set(verdicts) | {backend}, {"aasm-native", "sandlock", "gvisor", "microvm"})
                    self.assertTrue(all(c["reason"] for c in record["candidates"]))

    def test_a_pin_does_not_fall_through_and_has_to_be_of_the_class(self):
        done, record = self.refused("--isolation-backend", "sandlock")
        self.assertEqual([c["backend"] for c in record["candidates"] if c["verdict"] != "not_considered"], ["sandlock"])
        done, _ = self.refused("--isolation", "microvm", "--isolation-backend", "aasm-native")
        self.assertIn("realises the class process", done.stderr)
        done, _ = self.refused("--isolation", "none", "--isolation-backend", "aasm-native")
        self.assertIn("--isolation none", done.stderr)


if __name__ == "__main__":
    aasm_case.main()
