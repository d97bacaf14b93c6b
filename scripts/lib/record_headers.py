"""What the headers schema/include/aasm/schema/record_*.h say, for the scripts that write texts from them.

A member, its comment and its description stand side by side there; the headers are the source.
"""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADERS = ROOT / "schema/include/aasm/schema"

KINDS = [  # in the order of docs/spec/product.md section 3
    ("ledger.created", "LedgerCreated"), ("run.opened", "RunOpened"),
    ("policy.resolved", "PolicyResolved"), ("capability.probed", "CapabilityProbed"),
    ("plan.resolved", "PlanResolved"), ("plan.refused", "PlanRefused"),
    ("control.prepared", "ControlPrepared"), ("boundary.proved", "BoundaryProved"),
    ("process.started", "ProcessStarted"), ("decision.batch", "EventBatch"),
    ("observation.batch", "EventBatch"), ("witness.reported", "WitnessReported"), ("process.exited", "ProcessExited"),
    ("run.closed", "RunClosed"), ("run.recovered", "RunRecovered"),
    ("key.rotated", "KeyRotated"), ("key.replaced", "KeyReplaced"), ("key.revoked", "KeyRevoked"),
]


def enums():
    """Vocabulary name by C++ type, and its tokens."""
    found = {}
    for header in sorted(HEADERS.glob("*vocabulary.h")):
        text = header.read_text()
        for name, what, body in re.findall(
                r"struct EnumNames<(\w+)> \{\s*static constexpr std::string_view kWhat = \"([^\"]+)\";(.*?)\n\};",
                text, re.S):
            found[name] = (what, re.findall(r'::k\w+,\s*"([^"]+)"', body))
    return found


def structs():
    """(comment, members) by struct name; a member is (C++ type, name, comment)."""
    found = {}
    for header in sorted(HEADERS.glob("record_*.h")):
        comment, name, members = [], None, []
        pending = []
        for line in header.read_text().splitlines():
            if name is None:
                if line.startswith("//"):
                    comment.append(line[2:].strip())
                elif match := re.match(r"struct (\w+) \{", line):
                    name, members, pending = match[1], [], []
                else:
                    comment = []
                continue
            if line == "};":
                found[name] = (" ".join(comment), members)
                comment, name = [], None
            elif match := re.match(r"  //\s*(.*)", line):
                pending.append(match[1])
            elif match := re.match(r"  ([\w:<> ]+?) (\w+)(?: = [^;]+)?;(?:\s*//\s*(.*))?$", line):
                note = " ".join(pending + ([match[3]] if match[3] else []))
                members.append((match[1], match[2], note))
                pending = []
            elif match := re.match(r"\s{10,}//\s*(.*)", line):  # a trailing comment that goes on
                kind, member, note = members[-1]
                members[-1] = (kind, member, (note + " " + match[1]).strip())
            else:
                pending = []
    return found


def all_text():
    return "\n".join(header.read_text() for header in sorted(HEADERS.glob("record_*.h")))


def described(header_text, name):
    """(JSON name, member name) in order for one struct."""
    body = re.search(r"struct %s \{(.*?)\n\};" % name, header_text, re.S)[1]
    return re.findall(r'v\.field\("([^"]+)", self\.(\w+)\)', body)
