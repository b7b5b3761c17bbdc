# SPDX-License-Identifier: MIT
"""Shapes against the recorded results of the published viewer (three synthetic traces with their
shapes, distances, clusters and ribbons), and against the numbers that a separate program (sets of
sets in ordered maps, every distance computed) counted in real traces."""
import json
import subprocess
import sys

from support import SHARED, done, import_trace, note, ok, run_json, unpack

CASES = sys.argv[1]
NULL = 10000  # the viewer's id of the null shape


class Case:
    """What the viewer gave, its shapes numbered from 0: its own order, by depth where that differs."""

    def __init__(self, name):
        path = SHARED / "cases" / "shapes" / f"{name}.json"
        self.name = name
        self.json = json.loads(path.read_text(encoding="utf-8"))
        self.shapes = {row["id"]: row for row in self.json["shapes"]}
        self.order = [id_ for id_ in self.json["canonical_order"] if id_ != NULL]
        self.order.sort(key=lambda id_: self.shapes[id_]["depth"])
        self.number = {id_: number for number, id_ in enumerate(self.order)}

    def children(self, id_):
        return sorted(self.number[child] for child in self.shapes[id_]["patternIds"]
                      if child != NULL)

    def as_text(self):
        lines = [f"{len(self.order)} {round(2 * self.json['cluster_threshold'])}"]
        for id_ in self.order:
            words = [self.shapes[id_]["baseFunction"], len(self.children(id_)),
                     *self.children(id_)]
            lines.append(" ".join(map(str, words)))
        return "\n".join(lines)

    def distances(self):
        """Lower triangle in half units, null first."""
        ids = sorted(self.shapes)
        rows = {(ids[i], ids[j]): distance
                for i, row in enumerate(self.json["lower_triangle_distances"])
                for j, distance in enumerate(row)}
        result = []
        for i, id_ in enumerate(self.order):
            for other in [NULL, *self.order[:i]]:
                result.append(round(2 * rows.get((id_, other), rows.get((other, id_), -1))))
        return result


def members(numbers):
    """Where each number occurs, as sets."""
    sets = {}
    for at, number in enumerate(numbers):
        sets.setdefault(number, set()).add(at)
    return sets


def check_clusters(case, who, clusters, ribbons):
    want = {frozenset(row["shapeIds"]) for row in case.json["clusters"]}
    sets = {number: frozenset(case.order[at] for at in places)
            for number, places in members(clusters).items()}
    ok(set(sets.values()) == want, f"{case.name}: {len(want)} clusters, {who}")
    # A ribbon of the viewer is known by its clusters; of as deep ones it draws the later on top.
    groups = {frozenset(frozenset(cluster) for cluster in group["clusters"])
              for group in case.json["groups"]}
    got = {number: frozenset(sets[at] for at in places)
           for number, places in members(ribbons).items()}
    ok(set(got.values()) == groups, f"{case.name}: {len(groups)} ribbons, {who}")
    depths = [max(case.shapes[id_]["depth"] for cluster in got[number] for id_ in cluster)
              for number in sorted(got)]
    ok(depths == sorted(depths), f"{case.name}: the shallowest ribbon is on top, {who}", depths)


def check_case(name):
    case = Case(name)
    lines = subprocess.run([CASES], input=case.as_text(), check=True, stdout=subprocess.PIPE,
                           text=True).stdout.splitlines()
    want = case.distances()
    for at, who in ((0, "fast"), (4, "naive")):
        rows = [list(map(int, line.split()[1:])) for line in lines[at + 1:at + 4]]
        ok(lines[at] == who and rows[0] == want, f"{name}: {len(want)} distances, {who}")
        check_clusters(case, who, rows[1], rows[2])


def tree(shapes, id_):
    """A shape as (function name, set of its children)."""
    name, children = shapes[id_]
    return (name, frozenset(tree(shapes, child) for child in children))


def listed_clusters(rows, found):
    """The clusters that the paper's listing makes of imported shapes, as sets of trees."""
    lines = [f"{len(rows)} 3"]
    rows = sorted(rows, key=lambda row: row["id"])
    for row in rows:
        children = [child["id"] for child in row["children"]]
        lines.append(" ".join(map(str, [row["function_id"], len(children), *children])))
    printed = subprocess.run([CASES], input="\n".join(lines), check=True, stdout=subprocess.PIPE,
                             text=True).stdout.splitlines()
    numbers = map(int, printed[printed.index("naive") + 2].split()[1:])
    return {frozenset(tree(found, rows[at]["id"]) for at in places)
            for places in members(numbers).values()}


def check_import(name):
    """The trace through the program: the same shapes, each as often. The viewer's clusters hold
    childless shapes of functions that the trace never calls without callees, too."""
    case = Case(name)
    store = import_trace(SHARED / "cases" / "shapes" / f"{name}.trace.txt", name)
    document = store and run_json("shapes", "--list-shapes", "--limit", "0", store)
    if not document:
        return
    given = {id_: (f"f{row['baseFunction']}", [child for child in row["patternIds"]
                                               if child != NULL])
             for id_, row in case.shapes.items()}
    want = {tree(given, int(id_)): count for id_, count in case.json["instance_counts"].items()}
    found = {row["id"]: (row["function"], [child["id"] for child in row["children"]])
             for row in document["shape_list"]}
    got = {tree(found, row["id"]): row["count"] for row in document["shape_list"]}
    ok(got == want, f"{name}: {len(want)} shapes, each as often, imported", len(got))
    clusters = {}
    for row in document["shape_list"]:
        clusters.setdefault(row["cluster"], set()).add(tree(found, row["id"]))
    want = listed_clusters(document["shape_list"], found)
    ok({frozenset(cluster) for cluster in clusters.values()} == want,
       f"{name}: {len(want)} clusters, imported: those of the listing")


# shapes with callees, all shapes, clusters with a shape with callees, ribbons of these
REAL = {
    "wt_update_whole_small.fdr": (1580, 1958, 891, 25),
    "wt_update_whole_small.basic": (1650, 2023, 908, 24),
    "wt_evict_win_small.fdr": (589, 724, 196, 18),
    "wt_update_whole_medium.fdr": (5823, 6251, 1709, 25),
    "wt_evict_win_large.fdr": (10803, 10995, 1217, 20),
}


def check_real(name, want):
    folder = unpack(name)
    unpack("wtperf_xray.map")
    store = import_trace(folder / name, name, "--map", folder / "wtperf_xray.map.yaml")
    if not store:
        return
    document = run_json("shapes", store)
    if document:
        keys = ("shapes", "shapes_with_trivial", "clusters", "ribbons")
        ok(tuple(document[key] for key in keys) == want, f"{name}: {dict(zip(keys, want))}",
           [document[key] for key in keys])
        info = run_json("info", store)
        cut = info["cut_calls"] + sum(row["count"] for row in info["notes"]
                                      if row["kind"] == "open_at_end")
        ok(document["cut_calls"] == cut and
           document["calls"] + document["cut_calls"] == info["calls"] + info["cut_calls"],
           f"{name}: every call has a shape or is cut", document["calls"], document["cut_calls"])
    store.unlink()


for case_name in ("small", "medium", "large"):
    check_case(case_name)
    check_import(case_name)
for trace, numbers in REAL.items():
    check_real(trace, numbers)
note("ribbons are compared as sets of clusters, clusters as sets of shapes")
done()
