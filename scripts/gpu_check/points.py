"""Which shapes to run: the bounds of a table's entries, one less and one more, and corners of them."""

import itertools


def near(bounds, *others):
    """Each bound, one less and one more, and other numbers."""
    values = set(others)
    for bound in bounds:
        values |= {bound - 1, bound, bound + 1}
    return sorted(value for value in values if value > 0)


def grid(**axes):
    """All points over axes of values, as dicts."""
    return [dict(zip(axes, values)) for values in itertools.product(*axes.values())]


def ends(values):
    """The first value, the two last ones."""
    ordered = sorted(set(values))
    return sorted(set(ordered[:1] + ordered[-2:]))


def corners(points, first, second):
    """For the ends of axis `first`, and for each of them those of axis `second`: all points there."""
    found = []
    for a in ends(point[first] for point in points):
        there = [point for point in points if point[first] == a]
        for b in ends(point[second] for point in there):
            found.append([point for point in there if point[second] == b])
    return found


def choose(points, first, second, rest):
    """Points at the corners of two axes. Those at a corner take turns, and every combination of the axes
    `rest` that some point has is in one of the chosen."""
    chosen, seen = [], set()
    rest_of = lambda point: tuple(point[axis] for axis in rest)
    at_corners = corners(points, first, second)
    for turn, there in enumerate(at_corners):
        fresh = [point for point in there if rest_of(point) not in seen]
        point = fresh[0] if fresh else there[turn % len(there)]
        seen.add(rest_of(point))
        chosen.append(point)
    # From the largest corner on: sizes at which most blocks are busy.
    for point in [point for there in reversed(at_corners) for point in there] + points:
        if rest_of(point) not in seen:
            seen.add(rest_of(point))
            chosen.append(point)
    return chosen


def reach(entries, points, applies):
    """For each entry the points of which it is the first that applies."""
    reached = [[] for _ in entries]
    for point in points:
        for index, entry in enumerate(entries):
            if applies(entry, point):
                reached[index].append(point)
                break
    return reached
