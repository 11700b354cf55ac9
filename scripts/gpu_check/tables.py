"""Schedule tables: their entries, and the ones that an architecture uses."""

import glob
import json
import os

FOLDER = os.path.join("lib", "Schedule", "Tables")


class Table:
    """The table of one kind of schedules for one family of architectures."""

    def __init__(self, path):
        self.name = os.path.splitext(os.path.basename(path))[0]
        self.kind = self.name.split("-")[0]
        with open(path, encoding="utf-8") as file:
            json_table = json.load(file)
        self.arch = json_table["arch"]
        self.entries = json_table["entries"]

    def bounds(self, *path):
        """The distinct values that entries have at `path`, such as ("select", "max_columns"), in order."""
        found = set()
        for entry in self.entries:
            value = entry
            for key in path:
                value = value.get(key, {}) if isinstance(value, dict) else {}
            if isinstance(value, int) and value > 0:
                found.add(value)
        return sorted(found)

    def label(self, index):
        return f"{self.name}:{index}"

    def labelled_entries(self):
        """The entries for any architecture. The provenance of each, which a remark ends with, names it."""
        return [{**entry, "arch": "sm_", "provenance": f"entry {self.label(index)}"}
                for index, entry in enumerate(self.entries)]


def read_tables(tree):
    return [Table(path) for path in sorted(glob.glob(os.path.join(tree, FOLDER, "*.json")))]


def family_of(tables, arch):
    """The `arch` of the tables that the compiler uses for an architecture: the longest that it begins with."""
    return max((table.arch for table in tables if arch.startswith(table.arch)), key=len)


def write_labelled(tables, family, path):
    """All tables of a family in one file, as the option --schedule-table takes it."""
    entries = [entry for table in tables if table.arch == family for entry in table.labelled_entries()]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(entries, file)
