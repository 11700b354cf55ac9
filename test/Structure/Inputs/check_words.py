"""Checks the words of the sources and pages, and the width of prose.

    check_words.py SOURCE

Says of every hit of a retired word where it is and what to write instead, and of every line of
prose or ODS that is wider than 100 columns where it is. Tables, links, fenced blocks and generated
parts of pages may be wider.
"""

import os
import re
import sys

FOLDERS = ["bench", "dialects", "docs", "examples", "include", "kvcache", "lib", "python",
           "runtime", "scripts", "test", "tools"]
SUFFIXES = (".cpp", ".h", ".cuh", ".cu", ".td", ".md", ".mlir", ".test", ".py", ".txt", ".sh", ".json")
# Results that were measured keep the keys of their day; this list is what it forbids.
LEFT_OUT = re.compile(r"^(bench/results/|test/Structure/(words\.test|Inputs/check_words\.py)$)")

# Tests, measurements and scripts, whose locals are their own; the check is for what users read.
CODE = r"^(bench/.*\.(py|cpp|h)|scripts/|test/)"

# (pattern, what to write, files that may have it)
WORDS = [
    # A window reduction; a pool is a pool of pages.
    (r"\bcuda\.pool\w*|\bPool(Online|Piece|Window|Row|Yield)?Op\b"
     r"|\bpool_(c\d|online|piece|window|yield)\w*", "window_reduce", r"^bench/"),
    # A segment of a row or window.
    (r"(?i)(?<!in one )(?<![a-z])pieces?(?! of (PTX|memory|syntax|code|text))(?![a-z])", "segment",
     r"core/memory\.cuh$|host/Fiber\.cpp$|^scripts/"),
    (r"[a-z]Pieces?(?![a-z])", "segment", None),
    # Programmatic dependent launch.
    (r"(?i)predecessors?", "the previous kernel", None),
    (r"(?i)successors?(?!\()", "the dependent kernel", r"CudaLegalize\.cpp$"),
    # A vector; a chunk is one of a prompt.
    (r"\b(keep|load|store)_chunks|\bchunk_(bytes|words)\b|\b(get|is|verify|Keep)Chunks?\b", "vector",
     r"(?i)^kvcache/|^(bench|docs|test/Unit)/kvcache"),
    (r"\b[Cc]hunks?\b(?! of (a|the) prompt)", "vector, or say of what",
     r"^(bench|kvcache|python|scripts)/|^docs/KVCache|^test/Integration/(Inputs/)?(chunk|.*prefill)|^test/Unit/"),
    # Elements per thread, or a group of threads.
    (r"(?i)\bteams?\b|team_|_teams?\b|[a-z]Teams?\b", "vector, or group of threads", None),
    # A fragment is what one thread holds.
    (r"\bown_share\b|\bGroupShare\b|\blistShares\b|\bshare of (a|one) lane\b|\bunequal shares\b",
     "fragment", None),
    # Bounds.
    (r"\bkMost\w*|\bkLeast\w*|\bmost[A-Z]\w*|\bleast[A-Z]\w*|\bget(Most|Least)\b", "kMax..., max...",
     None),
    # The k of a selection, a rank among its results, a slot of its output.
    (r"\b(k|get|verify)Places\b|\bPLACES\b|\b(WarpPlace|PositionPlaces)\b|\bat place \d",
     "k, rank or slot", r"^test/Unit/Host/TopkTilesTest\.cpp$"),
    # A scale of quantised values.
    (r"(?i)\bfactors\b|\b(codes|scale) factors?\b|\b(Stored|get|build|encode|is|draw)Factors?\b",
     "scales", r"Expression|PlanParser|rows/exp\.cuh$|window/|CompressOnline\.cpp$|CudaLegalize"
     r"|RowToRow\.cpp$|LaunchPlan|^bench/peer_|^test/(Unit/Runtime|Fuzz)|^bench/Device"),
    (r"\bcodes and scales\b|%codes\b|\bcodes_of_\w+", "payload", None),
    # A quantisation recipe.
    (r"rule(?<!\wrule) = #|getRule\b|[Qq]uantisation rules?\b", "recipe", None),
    (r"(?i)\brow[ _]space|\browSpace\b", "iteration space", None),
    (r"\brow\.pick\b|\bPickOp\b|\bpick_c\d", "row.gather_elements", None),
    (r"[Hh]ard(?<!\w[Hh]ard)( (rows|scores|ones)\b| to select from\b|Rows?\b|-scores)",
     "adversarial", None),
    (r"\bheld kernels?\b", "loaded kernel", None),
    (r"(?i)\blook-ups?\b", "lookup", None),
    (r"\bevicted last\b", "evict_last", None),
    (r"\bon (its|their) way\b", "in flight", None),
    (r"\bin front of\b", "before", None),
    (r"[Bb]ehind\b(?<!\w.ehind)(?<!leave .ehind)(?<!leaves .ehind)(?<!left .ehind)"
     r"(?<!nothing .ehind)(?<!memory .ehind)(?<!directories .ehind)(?<!stay .ehind)"
     r"(?<!stays .ehind)(?<!leaves-.ehind)", "after", None),
    (r"\bis no row of a lane\b|\bnumbers of (a|the) row\b|\btakesRowNumbers\b", "row statistics", None),
    (r"\b(lanes|elements|vectors|bytes|registers) a (row|thread|block|lane)\b(?! (of|that|is))",
     "per", None),
    (r"\b(two blocks|one scale|an image|lanes|threads|us|µs) an? (launch|multiprocessor|entry|kernel|row)\b",
     "per", None),
    # A bare place; "in place" and "the last place" are terms.
    (r"(?<!in )(?<!last )(?<!take )(?<!takes )\b[Pp]laces?\b",
     "slot, rank, position, offset or file: what it is",
     rf"{CODE}|OutlineKernels\.cpp$|DSV4Dialect\.cpp$"),
    (r"(?i)\bthe (most|least)\b(?! (recent|recently|significant|effective|common))",
     "the maximum, the minimum", CODE),
    (r"(?i)\bso many\b", "as many, or the number", CODE),
    (r"(?i)\b(told|tells?|telling)\b", "reports, passes, distinguishes",
     rf"{CODE}|SelectSchedule\.cpp$"),
    (r"(?i)\bin front\b", "before", CODE),
    # Translated phrases.
    (r"(?i)\bodd one out\b", "an unpaired value", CODE),
    (r"(?i)\b(is|are) no (cluster|fragment|function|host|link|loop|part|row|vector|power of two)s?\b",
     "is not a", CODE),
    (r"(?i)\b(has|have) (a|no) use for\b", "needs", CODE),
    (r"(?i)\bby way of\b", "through", CODE),
    (r"(?i)\bcounts? on\b", "relies on", CODE),
    (r"(?i)\bat hand\b", "current, or available", CODE),
    (r"(?i)\bmade of what\b|\bwhat (becomes|is made) of\b", "name it", CODE),
    (r"(?i)\bgives? nothing\b", "has no result", CODE),
    (r"(?i)\b(that|what) there (is|are)\b(?! no)", "that exists", CODE),
    (r"(?i)\btruth, not speed\b", "timings are not meaningful", None),
]
WORDS = [(re.compile(p), to, re.compile(files) if files else None) for p, to, files in WORDS]


def files_of(source):
    for folder in FOLDERS:
        for at, folders, names in os.walk(os.path.join(source, folder)):
            folders[:] = sorted(f for f in folders if f not in ("__pycache__", "build"))
            for name in sorted(names):
                if name.endswith(SUFFIXES):
                    yield os.path.relpath(os.path.join(at, name), source)
    for name in sorted(os.listdir(source)):
        if name.endswith((".md", ".txt")) and name != "LICENSE":
            yield name


def check_words(path, text):
    hits = []
    for pattern, to, allowed in WORDS:
        if allowed and allowed.search(path):
            continue
        # No pattern matches the end of a line.
        hits += [(text.count("\n", 0, each.start()) + 1, each[0], to) for each in pattern.finditer(text)]
    for number, word, to in sorted(hits):
        print(f"{path}:{number}: '{word}' is retired: write {to}")
    return len(hits)


def check_width(path, lines):
    if not path.endswith((".md", ".td")):
        return 0
    found, fenced, generated = 0, False, False
    for number, line in enumerate(lines, 1):
        text = line.strip()
        fenced ^= text.startswith("```")
        generated = text.startswith("<!-- generated") or generated and "<!-- end" not in text
        if fenced or generated or text.startswith(("|", "<", "#")):
            continue
        if len(line) > 100 and "://" not in line and not re.search(r"\]\([^)]*$|^\S+$", text):
            print(f"{path}:{number}: {len(line)} columns of prose: expected at most 100")
            found += 1
    return found


def main():
    source = sys.argv[1]
    found = 0
    for path in files_of(source):
        if LEFT_OUT.search(path):
            continue
        with open(os.path.join(source, path), encoding="utf-8") as file:
            text = file.read()
        found += check_words(path, text) + check_width(path, text.split("\n"))
    if found:
        sys.exit(f"{found} retired words and wide lines")
    print("no retired words, and no wide lines of prose")


main()
