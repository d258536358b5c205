#!/usr/bin/env python3
"""Prints values of elementary functions for tests of functions.rs: name, arguments, value rounded, rest (bits of f64).

    python3 src/formula/functions/table.py > src/formula/functions/table.txt      (with mpmath 1.3)
"""
import random
import struct

from mpmath import mp, mpf

mp.prec = 1400
RANDOM = random.Random(22)
LARGEST = 2.0**40


def bits(x):
    return f"{struct.unpack('<Q', struct.pack('<d', x))[0]:x}"


def row(name, arguments, value):
    rounded = float(value)
    rest = float(value - mpf(rounded)) if abs(rounded) != float("inf") else 0.0
    print(name, *map(bits, arguments), bits(rounded), bits(rest))


def sizes(low, high, count):
    return [2.0 ** RANDOM.uniform(low, high) for _ in range(count)]


for x in [RANDOM.uniform(-745.1, 709.7) for _ in range(150)] + [RANDOM.uniform(-2, 2) for _ in range(100)]:
    row("exp", [x], mp.exp(mpf(x)))
for x in [s * x for x in sizes(-60, -1, 20) for s in (1, -1)] + [709.782712893384, -708.4, -745.13, -740.5, -720.25]:
    row("exp", [x], mp.exp(mpf(x)))
for x in sizes(-1074, 1023.9, 120) + [RANDOM.uniform(0.5, 2) for _ in range(120)] + [1 + 2.0**-k for k in range(1, 53)]:
    row("log", [x], mp.log(mpf(x)))
for x in [1 - 2.0**-k for k in range(2, 54)] + [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308]:
    row("log", [x], mp.log(mpf(x)))
# Numbers next to multiples of pi/2, where the reduction of the argument loses most.
near = [float(mp.pi / 2 * RANDOM.randrange(1, 2**k)) for k in range(1, 40) for _ in range(3)]
for x in [s * x for x in sizes(-30, 3, 60) + sizes(3, 39.9, 60) + near for s in (1, -1)] + [LARGEST, -LARGEST]:
    row("sin", [x], mp.sin(mpf(x)))
    row("cos", [x], mp.cos(mpf(x)))
for x in sizes(-1070, 1020, 130) + [RANDOM.uniform(0.6, 1.6) for _ in range(130)]:
    # Results from the smallest to the largest numbers.
    y = float(mpf(RANDOM.uniform(-744, 709.7)) / mp.log(mpf(x)))
    row("pow", [x, y], mp.power(mpf(x), mpf(y)))
for x in sizes(-30, 30, 100):
    y = RANDOM.uniform(-12, 12)
    row("pow", [x, y], mp.power(mpf(x), mpf(y)))
