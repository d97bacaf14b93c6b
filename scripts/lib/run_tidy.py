"""clang-tidy over many files: most of its time goes into the headers that every file includes, so
files compiled alike are read several at a time, by one file that includes them. Where two of them
declare the same name, each is read alone.

Usage: run_tidy.py CHECKS SIZE < paths, one a line     SIZE: how many files at a time"""
import collections, concurrent.futures, json, os, pathlib, re, shlex, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Wrong of a file that is included: it is no header.
NOT_OF_BATCHES = ",-bugprone-suspicious-include,-google-global-names-in-headers"
FINDING = re.compile(r"^/.*(?:warning|error): .*$", re.M)


def flags_of(command):
    words = shlex.split(command)
    words = words[next(i for i, word in enumerate(words) if "clang" in word) + 1:]
    for option, count in (("-o", 2), ("-c", 2)):
        at = words.index(option)
        del words[at:at + count]
    return tuple(words)


def batches(paths, size):
    wanted = {str(ROOT / path) for path in paths}
    alike = collections.defaultdict(list)
    for entry in json.loads((ROOT / "build/clang/compile_commands.json").read_text()):
        if entry["file"] in wanted:
            alike[flags_of(entry["command"])].append(entry["file"])
            wanted.discard(entry["file"])
    if wanted:
        sys.exit(f"error: not built by the preset clang: {' '.join(sorted(wanted))}")
    for flags, files in alike.items():
        for at in range(0, len(files), size):
            yield flags, files[at:at + size]


def tidy(source, flags, checks):
    done = subprocess.run(["clang-tidy-14", "--quiet", "--warnings-as-errors=*", f"--checks={checks}", source, "--", *flags],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False, cwd=ROOT)
    return done.returncode, set(FINDING.findall(done.stdout))


def tidy_batch(flags, files, checks, folder):
    if len(files) > 1:
        handle, source = tempfile.mkstemp(suffix=".cc", dir=folder, text=True)
        with os.fdopen(handle, "w") as out:
            out.writelines(f'#include "{name}"\n' for name in files)
        status, found = tidy(source, flags, checks + NOT_OF_BATCHES)
        if status == 0:
            return 0, found
    # What was found is found again with its file alone, or was of the batch's making.
    results = [tidy(name, flags, checks) for name in files]
    return max(status for status, _ in results), set().union(*(found for _, found in results))


def main():
    checks, size = sys.argv[1], int(sys.argv[2])
    paths = sys.stdin.read().split()
    # Below the root, where the checks of .clang-tidy are looked for.
    with tempfile.TemporaryDirectory(prefix="tidy-", dir=ROOT / "build/clang") as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda batch: tidy_batch(*batch, checks, folder), batches(paths, size)))
    findings = set().union(*(found for _, found in results))
    print("\n".join(sorted(findings)), end="\n" if findings else "")
    failed = any(status for status, _ in results)
    print(f"clang-tidy: {len(paths)} files{'' if failed else ', no findings'}")
    sys.exit(1 if failed else 0)


main()
