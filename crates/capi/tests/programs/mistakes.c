/* Mistakes of a caller: each has its status and text, nothing crashes and nothing is printed. With an argument no process
 * is forked. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

/** Runs a call in a forked process; returns its status. */
#define forked(call) __extension__({                                                                                   \
    pid_t child_ = fork();                                                                                             \
    int ended_ = -1;                                                                                                   \
    if (child_ == 0) _exit((int)(call));                                                                               \
    check(waitpid(child_, &ended_, 0) == child_ && WIFEXITED(ended_), "the forked process ends");                      \
    WEXITSTATUS(ended_);                                                                                               \
})

int main(int argc, char **argv) {
    int fork_too = argc == 1 || !argv[1];

    uint64_t forces = 0, sim = 0;
    double one[1] = {1}, x[1][3] = {{0, 0, 0}}, bad[1][3] = {{NAN, 0, 0}}, out[1][3], pot[1];
    uint64_t zero[1] = {0}, twice[2] = {0, 0};
    tisane_vectors rows = tisane_rows(x[0]), none = tisane_none(), half = {x[0], NULL, NULL, 3};

    fails(tisane_forces_open("gpu", NULL, 0, &forces), TISANE_INPUT, "expected \"cpu\"");
    fails(tisane_forces_open("cpu:1", NULL, 0, &forces), TISANE_INPUT, "expected \"cpu\"");
    fails(tisane_forces_open("cpu", "f16", 0, &forces), TISANE_INPUT, "f32-kahan");
    fails(tisane_forces_open("cpu", NULL, -1, &forces), TISANE_INPUT, "softening");
    fails(tisane_forces_open("cpu", NULL, NAN, &forces), TISANE_INPUT, "softening");
    fails(tisane_forces_open("cpu", NULL, 0, NULL), TISANE_ARGUMENT, "NULL");
    fails(tisane_forces_open("cuda:77", NULL, 0, &forces), TISANE_INPUT, "");
    fails(tisane_forces_open("\xff", NULL, 0, &forces), TISANE_ARGUMENT, "UTF-8");
    fails(tisane_forces_set(7777, 1, one, rows, none), TISANE_ARGUMENT, "no open force engine");
    good(tisane_forces_open("cpu", NULL, 0, &forces));
    fails(tisane_simulation_integrate(forces, 1, NULL, NULL), TISANE_ARGUMENT, "no open simulation");
    fails(tisane_forces_set(forces, -1, one, rows, none), TISANE_ARGUMENT, "found -1");
    fails(tisane_forces_set(forces, INT64_MAX, one, rows, none), TISANE_ARGUMENT, "expected a number");
    fails(tisane_forces_set(forces, 1, NULL, rows, none), TISANE_ARGUMENT, "mass is NULL");
    fails(tisane_forces_set(forces, 1, one, none, none), TISANE_ARGUMENT, "pos is NULL");
    fails(tisane_forces_set(forces, 1, one, half, none), TISANE_ARGUMENT, "pos is NULL");
    fails(tisane_forces_set(forces, 1, one, tisane_rows(bad[0]), none), TISANE_INPUT, "coordinates");
    good(tisane_forces_set(forces, 0, NULL, none, none));
    good(tisane_forces_evaluate(forces, 0, NULL, none, none, none, none, NULL));
    good(tisane_forces_evaluate(forces, 1, NULL, rows, none, tisane_rows(out[0]), none, pot));
    check(out[0][0] == 0 && pot[0] == 0, "without sources there is no force");
    good(tisane_forces_set(forces, 1, one, rows, none));
    fails(tisane_forces_evaluate(forces, 1, NULL, rows, none, tisane_rows(out[0]), none, pot), TISANE_INPUT, "point 0");
    fails(tisane_forces_set_some(forces, 1, (uint64_t[]){1}, one, rows, none), TISANE_INPUT, "no source 1");
    good(tisane_forces_evaluate(forces, 1, zero, rows, none, none, none, NULL));

    /* A forked child has the engine too, though not its threads. */
    if (fork_too)
        check(forked(tisane_forces_evaluate(forces, 1, zero, rows, none, none, none, NULL)) == 0, "a fork has forces");
    good(tisane_forces_close(forces));
    fails(tisane_forces_close(forces), TISANE_ARGUMENT, "was closed");
    fails(tisane_forces_evaluate(forces, 1, zero, rows, none, none, none, NULL), TISANE_ARGUMENT, "was closed");

    fails(tisane_simulation_new("[softening]\nepsilom = 1\n", &sim), TISANE_INPUT, "epsilom");
    check(strstr(tisane_last_error(), "help"), "advice is in the text");
    fails(tisane_simulation_new("not toml", &sim), TISANE_INPUT, "configuration");
    fails(tisane_simulation_new(NULL, NULL), TISANE_ARGUMENT, "NULL");
    fails(tisane_simulation_from_file("no/such/file.toml", &sim), TISANE_INPUT, "no/such/file.toml");
    fails(tisane_simulation_from_file(NULL, &sim), TISANE_ARGUMENT, "path is NULL");
    fails(tisane_simulation_load("no/such/file.hdf5", &sim), TISANE_INPUT, "no/such/file.hdf5");
    good(tisane_simulation_new(NULL, &sim));
    fails(tisane_simulation_integrate(sim, 1, NULL, NULL), TISANE_INPUT, "there are none");
    fails(tisane_simulation_add(sim, 2, twice, (double[]){1, 1}, tisane_rows((double[6]){0}), tisane_rows((double[6]){0}), NULL),
          TISANE_INPUT, "two particles have the id 0");
    fails(tisane_simulation_add(sim, 1, NULL, (double[]){-1}, rows, rows, NULL), TISANE_INPUT, "mass is -1");
    good(tisane_simulation_add(sim, 1, NULL, one, rows, rows, NULL));
    fails(tisane_simulation_particles(sim, 3, NULL, NULL, none, none), TISANE_ARGUMENT, "has 1 particles");
    fails(tisane_simulation_set(sim, "softening.epsilon=-1"), TISANE_INPUT, "softening.epsilon");
    fails(tisane_simulation_set(sim, NULL), TISANE_ARGUMENT, "NULL");
    good(tisane_simulation_integrate(sim, 1, NULL, NULL));
    fails(tisane_simulation_integrate(sim, 0.5, NULL, NULL), TISANE_INPUT, "forward only");
    fails(tisane_simulation_integrate(sim, INFINITY, NULL, NULL), TISANE_INPUT, "finite");
    fails(tisane_simulation_save(sim, "no/such/folder/file.hdf5"), TISANE_STORAGE, "no/such/folder");
    char small[10];
    fails(tisane_simulation_state_sha256(sim, small, sizeof small), TISANE_ARGUMENT, "65 bytes");
    fails(tisane_simulation_measure(sim, NULL), TISANE_ARGUMENT, "NULL");
    if (fork_too)
        check(forked(tisane_simulation_integrate(sim, 2, NULL, NULL)) == TISANE_INPUT, "a fork has no simulation");
    good(tisane_simulation_close(sim));
    puts("mistakes: good");
    return 0;
}
