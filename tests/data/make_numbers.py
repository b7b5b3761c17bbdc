#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes numbers.tsv: kind, value, and how both languages have to print it (src/render/human.h,
ui/src/lib/numbers.ts), by exact decimal arithmetic and halves to even. usage: make_numbers.py > numbers.tsv"""
import random
from decimal import ROUND_HALF_EVEN, Decimal

NS = ((10**3, "\u00b5s"), (10**6, "ms"), (10**9, "s"))
BYTES = ((10**3, "kB"), (10**6, "MB"), (10**9, "GB"), (10**12, "TB"))
ROUGH = ((10**3, "k"), (10**6, "M"), (10**9, "G"), (10**12, "T"))


def fixed(value: float, places: int) -> str:
    return str(Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN))


def three(value: float, unit: str = "") -> str:
    """Three significant digits, at most three decimals."""
    places = 3 if value < 0.9995 else 2 if value < 9.995 else 1 if value < 99.95 else 0
    return fixed(value, places) + (f" {unit}" if unit else "")


def steps(value: float, units: tuple) -> str:
    """In the largest unit that the value does not fall short of once it is rounded."""
    scale, unit = units[0]
    for larger, name in units[1:]:
        if value >= larger * 0.9995:
            scale, unit = larger, name
    return three(value / scale, unit)


def ns(value: int) -> str:
    if value < 1000:
        return f"{value} ns"
    if value >= 7200 * 10**9:
        return three(value / 3.6e12, "h")
    return three(value / 6e10, "min") if value >= 999_500_000_000 else steps(value, NS)


def share(value: float) -> str:
    percent = value * 100
    if 0 < percent < 0.001:
        return "<0.001 %"
    return three(percent, "%") if 0 < percent < 100 else f"{fixed(percent, 0)} %"


def ratio(value: float) -> str:
    return f"{int(value + 0.5):,}" if value >= 999.5 else three(value)


KINDS = {
    "ns": ns,
    "bytes": lambda n: f"{n} B" if n < 1000 else steps(n, BYTES),
    "count": lambda n: f"{n:,}",
    "rough": lambda n: f"{n:,}" if n < 10000 else steps(n, ROUGH),
    "share": share,
    "ratio": ratio,
    "p": lambda p: "p < 0.001" if p < 0.001 else f"p = {fixed(p, 3)}",
}


def whole(rng: random.Random) -> list:
    edges = [n * 10**k + d for k in range(14) for n in (1, 2, 5, 9995, 99949, 99951, 1005, 10005, 12345)
             for d in (-1, 0, 1)]
    return edges + [1800 * 10**9, 7200 * 10**9] + [int(10 ** rng.uniform(0, 15)) for _ in range(250)]


def real(rng: random.Random, most: float) -> list:
    edges = [0.0, 0.125, 0.0625, 0.0005, 0.00001, 0.000009, 0.5, 0.9995, 0.99951, 0.995, 1.0]
    return [n for n in edges if n <= most] + [10 ** rng.uniform(-7, 0) * most for _ in range(400)]


def main() -> None:
    rng = random.Random(7)
    print("# kind, value, text; written by make_numbers.py")
    for kind, text in KINDS.items():
        values = real(rng, 1e7 if kind == "ratio" else 1) if kind in ("share", "ratio", "p") else whole(rng)
        for value in sorted({v for v in values if 0 <= v <= 2**53}):
            print(f"{kind}\t{value!r}\t{text(value)}")


if __name__ == "__main__":
    main()
