/* Forces of sources at any points, against sums written out here. */
#include "check.h"

enum { N = 100, M = 17 };

static double uniform(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 - 0.5;
}

int main(void) {
    check(tisane_abi_version() == TISANE_ABI_VERSION, "the header is that of the library");
    check(strlen(tisane_version()) > 4, "the library has a version");
    double mass[N], pos[N][3], vel[N][3], at[M][3], acc[N][3], jerk[N][3], pot[N];
    uint64_t seed = 1, exclude[N], forces = 0;
    for (int i = 0; i < N; i++) {
        mass[i] = i % 5 == 0 ? 0.0 : uniform(&seed) + 0.6;
        exclude[i] = (uint64_t)i;
        for (int k = 0; k < 3; k++) {
            pos[i][k] = uniform(&seed);
            vel[i][k] = uniform(&seed);
        }
    }
    for (int i = 0; i < M; i++)
        for (int k = 0; k < 3; k++) at[i][k] = uniform(&seed);

    good(tisane_forces_open("cpu", "f64", 0.1, &forces));
    good(tisane_forces_set(forces, N, mass, tisane_rows(pos[0]), tisane_rows(vel[0])));

    /* Particles by their numbers, with one target left out of nothing. */
    good(tisane_forces_evaluate(forces, N, exclude, tisane_rows(pos[0]), tisane_rows(vel[0]), tisane_rows(acc[0]),
                                tisane_rows(jerk[0]), pot));
    for (int i = 0; i < N; i++) {
        double a[3] = {0, 0, 0}, j[3] = {0, 0, 0}, p = 0;
        for (int s = 0; s < N; s++) {
            if (s == i) continue;
            double r[3], v[3], s2 = 0.01, rv = 0;
            for (int k = 0; k < 3; k++) {
                r[k] = pos[s][k] - pos[i][k];
                v[k] = vel[s][k] - vel[i][k];
                s2 += r[k] * r[k];
                rv += r[k] * v[k];
            }
            double s1 = sqrt(s2), f = mass[s] / (s2 * s1);
            for (int k = 0; k < 3; k++) {
                a[k] += f * r[k];
                j[k] += f * (v[k] - 3 * rv / s2 * r[k]);
            }
            p -= mass[s] / s1;
        }
        for (int k = 0; k < 3; k++) {
            close_to(acc[i][k], a[k], 1e-10, "acceleration");
            close_to(jerk[i][k], j[k], 1e-10, "jerk");
        }
        close_to(pot[i], p, 1e-12, "potential");
    }

    /* Three columns, no velocities, only accelerations: the same numbers as rows. */
    double x[M], y[M], z[M], ax[M], ay[M], az[M], rows[M][3];
    for (int i = 0; i < M; i++) x[i] = at[i][0], y[i] = at[i][1], z[i] = at[i][2];
    good(tisane_forces_evaluate(forces, M, NULL, tisane_columns(x, y, z), tisane_none(), tisane_columns(ax, ay, az),
                                tisane_none(), NULL));
    good(tisane_forces_evaluate(forces, M, NULL, tisane_rows(at[0]), tisane_none(), tisane_rows(rows[0]), tisane_none(),
                                NULL));
    for (int i = 0; i < M; i++)
        check(ax[i] == rows[i][0] && ay[i] == rows[i][1] && az[i] == rows[i][2], "columns and rows are the same");

    /* The output may be the input. */
    good(tisane_forces_evaluate(forces, M, NULL, tisane_rows(at[0]), tisane_none(), tisane_rows(at[0]), tisane_none(),
                                NULL));
    check(memcmp(at, rows, sizeof at) == 0, "outputs may be inputs");

    /* Some sources, by their numbers. */
    uint64_t some[2] = {3, 99};
    double moved[2][3] = {{9, 9, 9}, {-9, 9, 9}}, masses[2] = {mass[3], mass[99]};
    good(tisane_forces_set_some(forces, 2, some, masses, tisane_rows(moved[0]), tisane_none()));
    good(tisane_forces_evaluate(forces, M, NULL, tisane_columns(x, y, z), tisane_none(), tisane_columns(ax, ay, az),
                                tisane_none(), NULL));
    check(ax[0] != rows[0][0], "changed sources change forces");

    /* As many engines as wanted. */
    uint64_t others[20];
    for (int i = 0; i < 20; i++) good(tisane_forces_open(NULL, NULL, 0, &others[i]));
    for (int i = 0; i < 20; i++) good(tisane_forces_close(others[i]));
    good(tisane_forces_close(forces));
    puts("forces: good");
    return 0;
}
