/* A client in C: uses most of the library, compares with direct sums, and prints what it found.
 *   client            one line of results
 *   client fork       the same, by a child of a process that has already used the library
 */
#include "g6.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define N 500
#define NI 40

static double mass[N], x[N][3], v[N][3], a2[N][3], j6[N][3], k18[N][3], tj[N];
static int id[N];

static double number(void)
{
    static unsigned long long state = 1;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(state >> 11) / 4503599627370496.0 - 1.0;
}

static double worse(double error, double got, double want, double scale)
{
    double here = fabs(got - want) / scale;
    return here <= error ? error : here;
}

static double largest_error(double t, double eps2, double xi[][3], double vi[][3], int index[], double acc[][3],
                            double jerk[][3], double pot[], int nnb[])
{
    double error = 0.0;
    for (int i = 0; i < NI; i++) {
        double a[3] = {0, 0, 0}, j[3] = {0, 0, 0}, p = 0.0, least = INFINITY;
        int nearest = -1;
        for (int s = 0; s < N; s++) {
            double r[3], w[3], dt = t - tj[s], r2 = 0.0, rw = 0.0;
            if (id[s] == index[i])
                continue;
            for (int k = 0; k < 3; k++) {
                r[k] = x[s][k] + dt * (v[s][k] + dt * (a2[s][k] + dt * (j6[s][k] + dt * 0.75 * k18[s][k]))) - xi[i][k];
                w[k] = v[s][k] + dt * (2 * a2[s][k] + dt * (3 * j6[s][k] + dt * 3 * k18[s][k])) - vi[i][k];
                r2 += r[k] * r[k];
                rw += r[k] * w[k];
            }
            if (r2 < least) {
                least = r2;
                nearest = id[s];
            }
            double s2 = r2 + eps2, s3 = s2 * sqrt(s2);
            for (int k = 0; k < 3; k++) {
                a[k] += mass[s] * r[k] / s3;
                j[k] += mass[s] * (w[k] - 3 * rw / s2 * r[k]) / s3;
            }
            p -= mass[s] / sqrt(s2);
        }
        double la = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), lj = sqrt(j[0] * j[0] + j[1] * j[1] + j[2] * j[2]);
        for (int k = 0; k < 3; k++) {
            error = worse(error, acc[i][k], a[k], la);
            error = worse(error, jerk[i][k], j[k], lj);
        }
        error = worse(error, pot[i], p, fabs(p));
        error = worse(error, nnb[i], nearest, 1.0);
    }
    return error;
}

static int run(void)
{
    static double xi[NI][3], vi[NI][3], acc[NI][3], jerk[NI][3], pot[NI], h2[NI];
    static int index[NI], nnb[NI], list[N];
    int cluster = 3, nj = N, ni = NI, length = 0, own = 0, code;
    double eps2 = 1e-3, t = 1.0;

    if ((code = g6_open(cluster)) != 0) {
        printf("open=%d npipes=%d\n", code, g6_npipes());
        return 0;
    }
    g6_set_tunit(51);
    g6_set_xunit(51);
    for (int i = 0; i < N; i++) {
        id[i] = 7 * i + 1;
        mass[i] = 1.0 / N;
        tj[i] = i % 4 / 8.0;
        for (int k = 0; k < 3; k++) {
            x[i][k] = number();
            v[i][k] = number();
            a2[i][k] = number();
            j6[i][k] = number();
            k18[i][k] = i % 50 == 0 ? number() : 0.0;
        }
        if (i % 2)
            g6_set_j_particle(cluster, i, id[i], tj[i], 0.125, mass[i], k18[i], j6[i], a2[i], v[i], x[i]);
        else {
            double dt = 0.125;
            g6_set_j_particle_(&cluster, &i, &id[i], &tj[i], &dt, &mass[i], k18[i], j6[i], a2[i], v[i], x[i]);
        }
    }
    for (int i = 0; i < NI; i++) {
        index[i] = id[3 * i];
        h2[i] = 0.25;
        for (int k = 0; k < 3; k++) {
            xi[i][k] = number();
            vi[i][k] = number();
        }
    }
    g6_set_ti(cluster, t);
    g6calc_firsthalf(cluster, N, NI, index, xi, vi, acc, jerk, pot, eps2, h2);
    code = g6calc_lasthalf2(cluster, N, NI, index, xi, vi, eps2, h2, acc, jerk, pot, nnb);
    double error = largest_error(t, eps2, xi, vi, index, acc, jerk, pot, nnb);
    t = 1.25;
    g6_set_ti_(&cluster, &t);
    g6calc_firsthalf_(&cluster, &nj, &ni, index, xi, vi, acc, jerk, pot, &eps2, h2);
    code |= g6calc_lasthalf2_(&cluster, &nj, &ni, index, xi, vi, &eps2, h2, acc, jerk, pot, nnb);
    error = worse(error, largest_error(t, eps2, xi, vi, index, acc, jerk, pot, nnb), 0.0, 1.0);
    code |= g6_read_neighbour_list(cluster);
    for (int i = 0; i < NI; i++) {
        code |= g6_get_neighbour_list(cluster, i, N, &length, list);
        for (int k = 0; k < length; k++)
            own += list[k] == index[i];
    }
    printf("open=0 npipes=%d code=%d error=%.1e own=%d close=%d\n", g6_npipes(), code, error, own > 0, g6_close(cluster));
    return 0;
}

int main(int argc, char **argv)
{
    int status;
    if (argc < 2 || strcmp(argv[1], "fork") != 0)
        return run();
    if (freopen("/dev/null", "w", stdout) == NULL || run() != 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return 1;
    if (fork() == 0)
        return run();
    return wait(&status) < 0 || status != 0;
}
