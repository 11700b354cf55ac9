"""Results as one table."""

import collections

from .execute import LEFT, PASSED, REFUSED


def is_good(result, may_refuse):
    return result.status == PASSED or (result.status == REFUSED and result.group in may_refuse)


def write_report(results, may_refuse, facts, seconds):
    """The table, what went wrong, and notes; whether all is well."""
    groups = collections.defaultdict(list)
    for result in results:
        groups[result.group].append(result)
    lines = ["| group | cases | launches | differences | seconds |", "|---|---|---|---|---|"]
    totals = [0, 0, 0]
    for group, some in groups.items():
        refused = sum(result.status == REFUSED and is_good(result, may_refuse) for result in some)
        bad = sum(not is_good(result, may_refuse) for result in some)
        # Some cases do not fit; that most do not is a fault of the compiler.
        bad += refused if 2 * refused > len(some) else 0
        numbers = [sum(result.cases for result in some), sum(result.launches for result in some), bad]
        totals = [a + b for a, b in zip(totals, numbers)]
        name = group + (f" ({refused} refused)" if refused else "")
        lines.append(f"| {name} | {numbers[0]} | {numbers[1]} | {numbers[2]} "
                     f"| {sum(result.seconds for result in some):.0f} |")
    lines.append(f"| **all** | {totals[0]} | {totals[1]} | **{totals[2]}** | {seconds:.0f} |")
    lines += [""] + [f"{name}: {value}  " for name, value in facts.items()]
    notes = sorted({result.note for result in results if result.note})
    if notes:
        lines += ["", "Hazards that racecheck reports and that are explained (scripts/gpu_check/hazards.py, suppressions.txt):", ""]
        lines += [f"* {note}" for note in notes]
    return "\n".join(lines), totals[2] == 0


def write_failures(results, may_refuse, limit=60):
    """A line for each case that went wrong, and the command that runs it again."""
    wrong = [result for result in results if not is_good(result, may_refuse)]
    bad = [result for result in wrong if result.status != LEFT]
    lines = []
    for result in bad[:limit]:
        lines.append(f"* {result.group}: {result.name}: {result.status}: {result.why[:400]}")
        if result.repeat:
            lines.append(f"  `{result.repeat}`")
    if len(bad) > limit:
        lines.append(f"* and {len(bad) - limit} more")
    left = collections.Counter(result.group for result in wrong if result.status == LEFT)
    lines += [f"* {group}: {count} cases were not run" for group, count in left.items()]
    return "\n".join(lines)
