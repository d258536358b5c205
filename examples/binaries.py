# Makes 100 binaries of the first 200 stars of examples/cluster-1k.dat, for the tutorial "A cluster with binaries": writes binaries.dat
import math, random

G, AU = 4.30091e-3, 4.84814e-6          # in pc (km/s)^2 / Msun; in pc
stars = [[float(cell) for cell in line.split()] for line in open("examples/cluster-1k.dat")]
draw = random.Random(1).random

def directions():
    """Two random unit vectors at right angles."""
    z, phi, psi = 2 * draw() - 1, 2 * math.pi * draw(), 2 * math.pi * draw()
    s, c, q = math.sin(phi), math.cos(phi), math.sqrt(1 - z * z)
    a, b = (-s, c, 0), (-z * c, -z * s, q)
    return (q * c, q * s, z), tuple(math.cos(psi) * i + math.sin(psi) * j for i, j in zip(a, b))

with open("binaries.dat", "w") as file:
    for k in range(0, len(stars), 2):
        (m1, *x1), (m2, *x2) = stars[k], stars[k + 1]
        if k < 200:
            # Semi-major axes from 1 to 10^4 au, uniform in the logarithm; eccentricities with the density 2 e; at the apocentre.
            a, e, m = AU * 10 ** (4 * draw()), math.sqrt(draw()), m1 + m2
            r, v = a * (1 + e), math.sqrt(G * m / a * (1 - e) / (1 + e))
            along, across = directions()
            d = [r * i for i in along] + [v * i for i in across]
            # In the place of the first star.
            x1, x2 = [x - m2 / m * i for x, i in zip(x1, d)], [x + m1 / m * i for x, i in zip(x1, d)]
        for star in ([m1, *x1], [m2, *x2]):
            print(*(f"{value:.15g}" for value in star), file=file)
