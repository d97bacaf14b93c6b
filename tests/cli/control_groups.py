"""Where this user's programs can be limited in memory, as the tests see it: by control groups of either version."""

import os
import pathlib
import typing


class Groups(typing.NamedTuple):
    own: pathlib.Path     # that this process stands in
    folder: pathlib.Path  # that groups of runs are made in
    version2: bool

    def names(self):
        return [one.name for one in self.folder.glob("aasm-run-*")]


def _mounted(kind, controller):
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        if after.split()[0] == kind and (controller is None or controller in after.split()[2].split(",")):
            return pathlib.Path(before.split()[4])
    return None


def _listed(path):
    return path.read_text().split() if path.exists() else []


def memory_groups():
    """None where there is no such place. The one that a supervisor has to be alone for is none of a test's."""
    version2 = None
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        number, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(",") and (top := _mounted("cgroup", "memory")):
            own = top / path.lstrip("/")
            return Groups(own, own, False) if os.access(own, os.W_OK) else None
        if number == "0":
            version2 = path
    top = _mounted("cgroup2", None)
    if version2 is None or top is None:
        return None
    own = top / version2.lstrip("/")
    is_root = not (own / "cgroup.type").exists()
    folder = own if is_root else own.parent
    given = _listed(folder / ("cgroup.controllers" if is_root else "cgroup.subtree_control"))
    return Groups(own, folder, True) if "memory" in given and os.access(folder, os.W_OK) else None
