"""The cases of schedule tables: every entry at its bounds, and one less and one more.

`applies` says of which points an entry is for, as the compiler does; the test Structure/gpu-check compares
the two. A kind of table that this file lacks has no case, and neither has an entry whose bounds no point
lies within, so that test fails."""

import random

from . import points as shapes
from .case import Case, Lengths, Other
from .programs import SELECT, write_policies, write_router, write_score, write_window
from .row_programs import ROW_PROGRAMS

# Scores of a case, at most: they are in memory, too.
MAX_SCORES = 24 << 20
# Products that the oracle computes in a second or two.
MAX_ORACLE = 1500 << 20
# Rows of a kernel whose bound is higher than the first number, or that has none, are as many as the second.
MAX_ROWS, MANY_ROWS = 5000, 1500
# With less work: rows, a multiple of every next_n, and columns that rows have.
FEW_ROWS, FEW_COLUMNS = 24, 2000


def within(entry, key, value, *part):
    for name in part:
        entry = entry.get(name, {})
    return not entry.get(key) or value <= entry[key]


def draw(case_name):
    """Choices of a case that depend on its name alone."""
    return random.Random(case_name)


def maybe_nan_first(choice):
    return " nan first" if choice.random() < 0.2 else ""


def to_bucket(extent):
    return 1 << max(extent - 1, 0).bit_length()


# -- select ---------------------------------------------------------------------------------------------


def select_points(table):
    columns = shapes.near(table.bounds("select", "max_columns"), 40)
    columns.append(columns[-1] + 999)
    rows = shapes.near(table.bounds("max_rows"), 1)
    rows.append(rows[-1] + 36)
    ks = shapes.near(table.bounds("select", "max_k"), 6, 512, 2048)
    points = shapes.grid(rows=rows, columns=columns, k=ks)
    return [point for point in points if point["k"] <= point["columns"]
            and point["rows"] * point["columns"] <= MAX_SCORES]


def select_applies(entry, point):
    return (within(entry, "max_rows", point["rows"]) and within(entry, "max_columns", point["columns"], "select")
            and within(entry, "max_k", point["k"], "select"))


def select_case(name, point, turn=0, few=0):
    choice = draw(name)
    # Rows of exactly so many elements, or of any number up to a power of two.
    bucket = turn % 2 == 1 and to_bucket(point["columns"]) == point["columns"]
    policies = {"columns": "bucket" if bucket else "exact", **({} if few else {"rows": "exact"})}
    point = {**point, "rows": few or point["rows"]}
    lengths = choice.random() < 0.6
    text = SELECT.format(
        type=choice.choice(["f32", "f32", "bf16"]), k=point["k"], policies=write_policies(policies),
        bounds="lengths(%lengths : tensor<?xi32>) " if lengths else "",
        order=choice.choice(["order sorted", "order index_ascending", ""]) + maybe_nan_first(choice))
    dims = {"rows": point["rows"], "columns": point["columns"]}
    exact = {"columns": to_bucket(point["columns"]) if bucket else point["columns"]}
    exact.update({} if few else {"rows": point["rows"]})
    return Case("", name, text=text, dims=dims, exact=exact,
                lengths={"lengths": Lengths(point["rows"], point["columns"])},
                cost=1 + point["rows"] * point["columns"] / 2e6)


# -- score ----------------------------------------------------------------------------------------------


def score_points(table):
    columns = shapes.near(table.bounds("select", "max_columns"), 1000)
    # More rows than any GPU has multiprocessors, once and twice.
    rows = shapes.near(table.bounds("max_rows"), 1, 160, 320)
    points = shapes.grid(rows=rows, columns=columns, form=["fused", "stored"],
                         format=["e4m3", "mxfp4", "nvfp4", "bf16"], next_n=[1, 2, 3, 4, 8])
    return [point for point in points if point["rows"] * point["columns"] <= MAX_SCORES]


def score_applies(entry, point):
    score, fused = entry["score"], point["form"] == "fused"
    return (("select" in entry) == fused and within(entry, "max_rows", point["rows"])
            and within(entry, "max_columns", point["columns"], "select")
            and point["format"] in score.get("keys", [point["format"]])
            and (score["algorithm"] == "plain" or point["format"] != "bf16")
            and (score.get("rows", 1) == 1 or point["next_n"] > 1)
            and not (score.get("persistent") and fused))


# Schedules for stored scores that share no keys, and whose results have equal bits: with tensor cores, without.
SIMPLE = ("#dsv4.schedule<threads = 256, min_blocks = 1, parts = "
          "[#dsv4.score<algorithm = mma, tiles = 1, stages = 2, slots = 1>]>")
PLAIN = "#dsv4.schedule<threads = 64, parts = [#dsv4.score<algorithm = plain>]>"


def score_case(name, point, turn=0, few=0, fixed=None):
    """`fixed` are extents that are not drawn."""
    choice = draw(name)
    # A kernel for any number of rows is launched with less work, too.
    lengths = min(point["columns"], FEW_COLUMNS) if few else point["columns"]
    exact_rows = not few and not fixed
    point = {**point, "rows": few or point["rows"]}
    point = {
        "heads": choice.choice([64, 64, 64, 32, 33]), "page": choice.choice([64, 64, 16, 256]),
        "k": min(point["columns"], choice.choice([512, 512, 1024, 2048, 33])),
        **point, **(fixed or {}),
    }
    work = point["rows"] * lengths * point["heads"] * 128
    with_two_kernels = point["form"] == "fused" and (work > MAX_ORACLE or turn % 2)
    orders = ["sorted", "index_ascending"]
    if not with_two_kernels:  # These have the elements in another order, where there is none.
        orders.append("unordered")
    point = {"order": choice.choice(orders) + maybe_nan_first(choice), **point}
    policies = {"rows": "exact"} if exact_rows else {}
    requests = -(-point["rows"] // point["next_n"])
    page_count = -(-point["columns"] // point["page"])
    dims = {"rows": point["rows"], "requests": requests, "pages": page_count,
            "keys.pages": min(requests * page_count + 1, 5 + 40000 // point["page"])}
    case = Case("", name, text=write_score(point["form"], point, policies), dims=dims,
                exact={"rows": point["rows"]} if exact_rows else {}, options=("--valid",),
                lengths={"length": Lengths(requests, lengths)})
    case.cost = 1 + min(work, MAX_ORACLE) / 3e8
    if with_two_kernels:
        case.other = Other(text=write_score("both", point, {}), outputs=("chosen", "values"))
        case.cost = 2 + point["rows"] * point["columns"] / 1e7
    elif work > MAX_ORACLE:
        schedule = PLAIN if point["format"] == "bf16" else SIMPLE
        case.other = Other(options=(f"--schedule={schedule}",), outputs=("out",))
        case.cost = 2 + point["rows"] * point["columns"] / 5e6
    return case


# -- router ---------------------------------------------------------------------------------------------

# Experts, elements of a row, and the type of the weights.
ROUTERS = [(64, 1024, "bf16"), (256, 7168, "bf16"), (157, 1001, "bf16"), (40, 260, "f32"), (384, 2048, "f32")]


def router_points(table):
    rows = shapes.near(table.bounds("max_rows"), 1)
    rows.append(rows[-1] + 100)
    points = shapes.grid(rows=rows, shape=range(len(ROUTERS)), form=["stored", "route"])
    return [point for point in points if point["rows"] * ROUTERS[point["shape"]][0] * ROUTERS[point["shape"]][1]
            <= MAX_ORACLE]


def router_applies(entry, point):
    routes = point["form"] == "route"
    return (("select" in entry) == routes and within(entry, "max_rows", point["rows"])
            and not (routes and entry["router"]["form"] == "tiles"))


def router_case(name, point, turn=0, few=0):
    experts, depth, kind = ROUTERS[point["shape"]]
    given = {**point, "experts": experts, "depth": depth, "type": kind,
             "nan": draw(name).choice(["last", "first", "zero"])}
    rows = few or point["rows"]
    return Case("", name, text=write_router(given, {} if few else {"rows": "exact"}), dims={"rows": rows},
                exact={} if few else {"rows": rows}, cost=1 + rows * experts * depth / 4e8)


# -- window ---------------------------------------------------------------------------------------------


def window_points(table):
    members = shapes.near(table.bounds("window", "min_members"), 8)
    channels = shapes.near(table.bounds("window", "min_channels"), 64, 128)
    rows = shapes.near(table.bounds("max_rows"), 1)
    return shapes.grid(members=members, channels=channels, rows=rows + [0])  # 0: any number


def window_applies(entry, point):
    window = entry["window"]
    return (within(entry, "max_rows", point["rows"] or 1 << 31)
            and point["members"] >= window.get("min_members", 0)
            and point["channels"] >= window.get("min_channels", 0))


def window_case(name, point, turn=0, few=0):
    rows = point["rows"]
    if not rows or rows > MAX_ROWS:
        # More rows than are worth launching: the compiler is given the bound.
        attributes = f"dsv4.bounds = {{entries = {rows} : i64}}" if rows else ""
        rows, exact = few or MANY_ROWS, {}
    else:
        attributes, exact = "dsv4.policies = {entries = #dsv4.policy<exact>}", {"entries": rows}
    tokens = 33 + min(rows * point["members"] // 2, 4000)
    return Case("", name, text=write_window(point, attributes), dims={"entries": rows, "tokens": tokens},
                exact=exact, cost=1 + rows * point["members"] * point["channels"] / 3e7)


# -- rows -----------------------------------------------------------------------------------------------


def row_points(table):
    rows = shapes.near(table.bounds("max_rows"), 1)
    return shapes.grid(rows=rows + [rows[-1] + 800], program=ROW_PROGRAMS)


def row_case(name, point):
    text = ROW_PROGRAMS[point["program"]].write("rows = #dsv4.policy<exact>")
    dims = {"rows": point["rows"]}
    if "%cache" in text:
        dims["cache.pages"] = 1 + point["rows"] // 16
    return Case("", name, text=text, dims=dims, exact={"rows": point["rows"]})


# -- all of them ----------------------------------------------------------------------------------------

# Points, the entries they are for, a case of a point; the axes of the corners, and those of which every
# combination has a case.
KINDS = {
    "select": (select_points, select_applies, select_case, ("rows", "columns", ("k",))),
    "score": (score_points, score_applies, score_case, ("rows", "columns", ("format", "next_n"))),
    "router": (router_points, router_applies, router_case, ("rows", "shape", ("shape",))),
    "window": (window_points, window_applies, window_case, ("rows", "channels", ("members",))),
}


def name_point(point):
    return " ".join(f"{axis}={value}" for axis, value in point.items())


def cases_of_rows(table):
    """Every program at every bound: which entry it is for depends on its records."""
    return [row_case(f"{table.name} {name_point(point)}", point) for point in row_points(table)]


def cases_of_table(table):
    if table.kind == "rows":
        return cases_of_rows(table)
    if table.kind not in KINDS:
        return []
    make_points, applies, make_case, axes = KINDS[table.kind]
    cases = []
    for index, points in enumerate(shapes.reach(table.entries, make_points(table), applies)):
        for turn, point in enumerate(shapes.choose(points, *axes) if points else []):
            case = make_case(f"{table.label(index)} {name_point(point)}", point, turn)
            if case:
                case.aims = table.label(index)
                cases.append(case)
    return cases


def small_cases(table):
    """For each entry whose threads work together on a row, one case of little work: a kernel for any number of
    rows is launched with few."""
    if table.kind not in KINDS:
        return []
    make_points, applies, make_case, _ = KINDS[table.kind]
    cases = []
    for index, points in enumerate(shapes.reach(table.entries, make_points(table), applies)):
        few = 0 if "max_rows" in table.entries[index] else FEW_ROWS
        small = [make_case(f"{table.label(index)} {name_point(point)}", point, few=few) for point in points]
        if small:
            cases.append(min(small, key=lambda case: case.cost))
            cases[-1].aims = table.label(index)
    return cases


def table_cases(tables, family):
    """Cases of the tables of a family. With `forced` they run on a GPU of another one."""
    cases = []
    for table in tables:
        if table.arch == family:
            for case in cases_of_table(table):
                case.group = table.name
                cases.append(case)
    return cases


def forced_cases(tables, family, per_entry=2):
    """A few cases for each entry of the tables of other families, which the GPU runs as well where they fit."""
    cases = []
    for table in tables:
        if table.arch == family:
            continue
        taken = {}
        for case in sorted(cases_of_table(table), key=lambda case: case.cost):
            key = case.aims or case.name.split("program=")[-1]
            taken.setdefault(key, []).append(case)
        for some in taken.values():
            for case in some[-per_entry:] if table.kind != "score" else some[:per_entry]:
                case.group, case.forced = f"{table.name}, forced", table.arch
                cases.append(case)
    return cases
