# SPDX-License-Identifier: MIT
"""Shapes against the recorded results of the published viewer: three synthetic traces with their
shapes, distances, clusters and ribbons."""
import json
import subprocess
import sys

from support import SHARED, done, note, ok

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


for case_name in ("small", "medium", "large"):
    check_case(case_name)
note("ribbons are compared as sets of clusters, clusters as sets of shapes")
done()
