/* A simulation: the bits of the program tisane, changes, a saved file, a callback.
 *   simulation CONFIGURATION T HASH FILE */
#include "check.h"

struct watched {
    int calls;
    double time;
    uint64_t simulation;
};

static int go_on(double time, uint64_t block_steps, void *data) {
    struct watched *watched = data;
    watched->time = time;
    double t;
    check(tisane_simulation_time(watched->simulation, &t) == TISANE_BUSY, "a callback must not use the simulation");
    check(block_steps > 0, "steps are counted");
    return ++watched->calls < 3;
}

int main(int argc, char **argv) {
    check(argc == 5, "four arguments");
    double end = atof(argv[2]), t = -1;
    uint64_t sim = 0, again = 0;
    char hash[65], engine[200];

    /* The bits of `tisane run`, whatever is asked in between. */
    good(tisane_simulation_from_file(argv[1], &sim));
    struct watched watched = {0, 0, sim};
    check(tisane_simulation_integrate(sim, end, go_on, &watched) == TISANE_STOPPED, "the callback stops it");
    good(tisane_simulation_time(sim, &t));
    check(watched.calls == 3 && t == watched.time && t < end, "after its third call");
    good(tisane_simulation_integrate(sim, 0.7 * end, NULL, NULL));
    int64_t n = 0;
    good(tisane_simulation_count(sim, &n));
    check(n == 64, "the particles of the configuration");
    static uint64_t id[64];
    static double mass[64], pos[64][3], vel[64][3], acc[64][3], pot[64];
    good(tisane_simulation_particles(sim, n, id, mass, tisane_rows(pos[0]), tisane_rows(vel[0])));
    good(tisane_simulation_forces(sim, n, tisane_rows(acc[0]), tisane_none(), pot));
    good(tisane_simulation_save(sim, argv[4]));
    good(tisane_simulation_integrate(sim, end, NULL, NULL));
    good(tisane_simulation_state_sha256(sim, hash, sizeof hash));
    check(strcmp(hash, argv[3]) == 0, "the state is that of the program");
    good(tisane_simulation_load(argv[4], &again));
    good(tisane_simulation_time(again, &t));
    check(t == 0.7 * end, "the saved time");
    good(tisane_simulation_integrate(again, end, NULL, NULL));
    good(tisane_simulation_state_sha256(again, hash, sizeof hash));
    check(strcmp(hash, argv[3]) == 0, "the state after a saved file is that of the program");
    good(tisane_simulation_engine(sim, engine, sizeof engine));
    check(strstr(engine, "cpu"), "the engine has a name");
    good(tisane_simulation_close(again));
    good(tisane_simulation_close(sim));

    /* An origin that moves on a circle. */
    double origin[3], speed[3];
    good(tisane_simulation_new("initial.plummer.n = 16\nsoftening.epsilon = 0.1\nexternal.point-mass.mass = 64.0\n"
                               "orbit.circular = 4.0\n", &sim));
    good(tisane_simulation_orbit_position(sim, origin));
    good(tisane_simulation_orbit_velocity(sim, speed));
    check(origin[0] == 4 && origin[1] == 0 && speed[0] == 0 && speed[1] == 4, "the origin begins at (R, 0, 0)");
    good(tisane_simulation_integrate(sim, 0.25, NULL, NULL));
    good(tisane_simulation_orbit_position(sim, origin));
    check(fabs(origin[0] - 4 * cos(0.25)) < 1e-13 && fabs(origin[1] - 4 * sin(0.25)) < 1e-13, "it moves on the circle");
    good(tisane_simulation_close(sim));

    /* Particles of the program, in parsecs. */
    const char *toml = "units = { mass = 'Msun', length = 'pc', velocity = 'km/s', time = 'Myr' }\n"
                       "integrator.hermite4.dt_max = 0.125\n";
    good(tisane_simulation_new(toml, &sim));
    double m[2] = {1, 1}, x[2][3] = {{-0.01, 0, 0}, {0.01, 0, 0}}, v[2][3] = {{0, -0.2, 0}, {0, 0.2, 0}};
    uint64_t added[2];
    good(tisane_simulation_add(sim, 2, NULL, m, tisane_rows(x[0]), tisane_rows(v[0]), added));
    check(added[0] == 0 && added[1] == 1, "identities");
    good(tisane_simulation_integrate(sim, 0.3, NULL, NULL));
    tisane_measured measured;
    good(tisane_simulation_measure(sim, &measured));
    check(fabs(measured.energy_error) < 1e-5 && measured.block_steps > 10, "the energy is conserved");
    check(measured.time == 0.3 && fabs(measured.momentum[1]) < 1e-12, "and the momentum");
    good(tisane_simulation_change(sim, 1, added, NULL, tisane_none(), tisane_rows(v[1])));
    good(tisane_simulation_set(sim, "integrator.hermite4.nu=0.001"));
    good(tisane_simulation_integrate(sim, 0.4, NULL, NULL));
    double at[1][3] = {{0, 5, 0}}, there[1][3], there_pot[1];
    good(tisane_simulation_field_at(sim, 1, tisane_rows(at[0]), tisane_none(), tisane_rows(there[0]), tisane_none(), there_pot));
    close_to(there_pot[0], -2 * 0.0043009172706 / 5, 0.05, "the potential far away");
    good(tisane_simulation_remove(sim, 1, added));
    good(tisane_simulation_count(sim, &n));
    check(n == 1, "one is left");
    good(tisane_simulation_close(sim));

    /* Charges, which a law reads: of two particles that repel each other. */
    good(tisane_simulation_new("force.law = { name = 'coulomb', parameters = { k = 0.5 } }\nsoftening.epsilon = 0\n", &sim));
    good(tisane_simulation_add(sim, 2, NULL, m, tisane_rows(x[0]), tisane_rows(v[0]), added));
    check(tisane_simulation_integrate(sim, 0.01, NULL, NULL) == TISANE_INPUT, "without charges it does not start");
    double charge[2] = {2, 3}, found[2] = {0, 0};
    check(tisane_simulation_set_column(sim, "charges", 2, added, charge) == TISANE_INPUT, "the law reads no such column");
    check(strstr(tisane_last_error(), "did you mean `charge`?"), "which is said");
    good(tisane_simulation_set_column(sim, "charge", 2, added, charge));
    good(tisane_simulation_column(sim, "charge", 2, found));
    check(found[0] == 2 && found[1] == 3, "the charges are there");
    double push[2][3];
    good(tisane_simulation_forces(sim, 2, tisane_rows(push[0]), tisane_none(), NULL));
    close_to(push[1][0], 0.5 * 2 * 3 / (0.02 * 0.02), 1e-12, "the force is Coulomb's");
    charge[0] = -1;
    good(tisane_simulation_set_column(sim, "charge", 1, added, charge));
    good(tisane_simulation_forces(sim, 2, tisane_rows(push[0]), tisane_none(), NULL));
    close_to(push[1][0], -0.5 * 3 / (0.02 * 0.02), 1e-12, "and follows a change");
    good(tisane_simulation_close(sim));

    /* A star that explodes beside one that does not. */
    toml = "units = { mass = 'Msun', length = 'pc', time = 'Myr' }\nstellar_evolution.metallicity = 0.02\n"
           "integrator.hermite4.dt_max = 0.125\n";
    good(tisane_simulation_new(toml, &sim));
    double heavy[2] = {25, 1}, wide[2][3] = {{-1, 0, 0}, {1, 0, 0}}, type[2], number[2];
    good(tisane_simulation_add(sim, 2, NULL, heavy, tisane_rows(wide[0]), tisane_rows(v[0]), added));
    good(tisane_simulation_star_column(sim, "type", 2, type));
    good(tisane_simulation_star_column(sim, "luminosity", 2, number));
    check(type[0] == 1 && type[1] == 1 && number[0] > 7e4 && number[1] < 1, "both are on the main sequence");
    good(tisane_simulation_integrate(sim, 8, NULL, NULL));
    good(tisane_simulation_star_column(sim, "type", 2, type));
    good(tisane_simulation_star_column(sim, "initial_mass", 2, number));
    check(type[0] == 14 && type[1] == 1 && number[0] == 25, "one is a black hole");
    good(tisane_simulation_particles(sim, 2, NULL, number, tisane_none(), tisane_none()));
    check(number[0] < 8, "of less mass");
    check(tisane_simulation_change(sim, 1, added, heavy, tisane_none(), tisane_none()) == TISANE_INPUT, "its mass stays");
    good(tisane_simulation_change(sim, 1, added, number, tisane_none(), tisane_rows(v[0])));
    check(tisane_simulation_star_column(sim, "lumin", 2, number) == TISANE_INPUT, "there is no such column");
    check(strstr(tisane_last_error(), "did you mean `luminosity`?"), "which is said");
    good(tisane_simulation_close(sim));
    puts("simulation: good");
    return 0;
}
