/* tisane: direct N-body integrator. Forces and simulations for C, C++ and Fortran.
 *
 * Every function returns a tisane_status; tisane_last_error() has the text of an error. No function prints, and none ends
 * the program. Objects are numbers. All numbers are in units with G = 1, or in those of the simulation's configuration.
 * Link with -ltisane, or see `pkg-config --cflags --libs tisane`.
 *
 * Made by cbindgen from the Rust sources: do not edit.
 */

#ifndef TISANE_H
#define TISANE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Version of the interface: it grows by one when a program must be compiled anew.
#define TISANE_ABI_VERSION 1

// Result of a function. 2 to 5 are the exit codes of the program tisane.
typedef enum tisane_status {
  // Done.
  TISANE_OK = 0,
  // A NULL pointer, a handle of no object, a buffer that is too small.
  TISANE_ARGUMENT = 1,
  // A value, setting, file or device that is wrong or not there.
  TISANE_INPUT = 2,
  // The callback ended the integration before its time.
  TISANE_STOPPED = 3,
  // The integration or the engine failed.
  TISANE_FAILED = 4,
  // A file could not be written.
  TISANE_STORAGE = 5,
  // The object is in use by another thread, or by the call whose callback this is.
  TISANE_BUSY = 6,
  // A mistake in tisane. The object should be closed.
  TISANE_BUG = 7,
} tisane_status;

// n vectors of the caller to be read or written: component c of vector k is `c[k * stride]`, for c = x, y, z. Rows
// `double a[n][3]` are {a, a + 1, a + 2, 3}, three columns are {x, y, z, 1}; {NULL, NULL, NULL, 0} stands for no vectors
// where they may be left out.
typedef struct tisane_vectors {
  // x of the first vector.
  double *x;
  // y of the first vector.
  double *y;
  // z of the first vector.
  double *z;
  // Number of doubles from one vector to the next.
  size_t stride;
} tisane_vectors;

// Function that is called after the first block step of an integration, and then from time to time, with the time and the
// number of block steps so far. It returns 0 to stop the integration; otherwise the number of block steps after which it
// is called again at the latest: 1 for every step, a negative number for any. Where a GPU takes whole block steps, it does
// so between the calls, which then are some 25 ms apart if the number is large; elsewhere every step is followed by a call.
// It must not use the simulation: that is TISANE_BUSY.
typedef int (*tisane_go_on)(double time, uint64_t block_steps, void *data);

// Energies, momenta and errors of a simulation at one time, in its units.
typedef struct tisane_measured {
  // Time.
  double time;
  // Kinetic energy.
  double kinetic_energy;
  // Potential energy of the pairs, in f64 in every mode.
  double potential_energy;
  // Potential energy in external fields.
  double external_potential_energy;
  // Total energy.
  double energy;
  // Energy error since the start, as relative_energy_error of a run; what the program's own changes added is no error.
  double energy_error;
  // Momentum.
  double momentum[3];
  // Angular momentum about the origin.
  double angular_momentum[3];
  // Centre of mass.
  double centre_of_mass[3];
  // Virial ratio T / |U| of the system in its own frame.
  double virial_ratio;
  // Largest relative error of an acceleration against f64 on the CPU, in a sample; 0 where that computes the forces.
  double largest_acceleration_error;
  // Block steps since the start.
  uint64_t block_steps;
  // Particle steps since the start.
  uint64_t particle_steps;
  // Pairs evaluated since the start.
  uint64_t pairs;
} tisane_measured;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the text of the last error of this thread, with advice in a second line where there is some. It is valid until
// the next function of this library that fails on this thread; it must not be freed. Empty if none has failed.
const char *tisane_last_error(void);

// Returns the version of the interface of the library: that of the header, TISANE_ABI_VERSION, if both go together.
uint32_t tisane_abi_version(void);

// Returns the version of tisane, such as "0.3.0". It must not be freed.
const char *tisane_version(void);

// Opens an engine that computes the forces of sources at any points, in units with G = 1, and writes its handle to
// `forces`; tisane_forces_close closes it. As many may be open as wanted, and each may be used by any thread, but by one
// at a time.
//
// `engine` is "cpu" (NULL stands for it), "cuda" for the first NVIDIA GPU, "cuda:K" for GPU number K, or "reference".
// `precision` is a mode by its name in configurations, such as "mixed" or "f64"; NULL stands for "mixed" on a GPU and
// "f64" elsewhere. `softening` is the Plummer softening, 0 or more.
//
// TISANE_INPUT if there is no such engine, GPU or mode, or the softening is negative or not finite.
enum tisane_status tisane_forces_open(const char *engine,
                                      const char *precision,
                                      double softening,
                                      uint64_t *forces);

// Closes an engine; its handle is never used again.
enum tisane_status tisane_forces_close(uint64_t forces);

// Replaces all sources by n: `mass`, `pos` and `vel` (which may be left out for sources at rest). They are copied, and
// numbered from 0. Sources without mass cost nothing.
//
// TISANE_INPUT for negative masses and numbers that are not finite or that the mode cannot represent; then nothing has
// changed.
enum tisane_status tisane_forces_set(uint64_t forces,
                                     int64_t n,
                                     const double *mass,
                                     struct tisane_vectors pos,
                                     struct tisane_vectors vel);

// Changes the n sources whose numbers are in `index`: their `mass`, `pos` and `vel` (left out: at rest). Cheap as long as
// no mass changes.
//
// TISANE_INPUT as for tisane_forces_set, and for a number of no source; then nothing has changed.
enum tisane_status tisane_forces_set_some(uint64_t forces,
                                          int64_t n,
                                          const uint64_t *index,
                                          const double *mass,
                                          struct tisane_vectors pos,
                                          struct tisane_vectors vel);

// Evaluates the forces of all sources at n points with the positions `pos` and the velocities `vel` (left out: at rest).
// Point k does not feel the source number `exclude[k]`, which for a particle is its own; UINT64_MAX excludes none, and
// NULL for `exclude` none at any point.
//
// Writes to `acc` the accelerations, to `jerk` their time derivatives and to `pot` the potentials per unit mass (below 0);
// each may be left out. They may be the arrays of `pos` and `vel`.
//
// TISANE_INPUT if a force is not a finite number, as at the place of a source without softening.
enum tisane_status tisane_forces_evaluate(uint64_t forces,
                                          int64_t n,
                                          const uint64_t *exclude,
                                          struct tisane_vectors pos,
                                          struct tisane_vectors vel,
                                          struct tisane_vectors acc,
                                          struct tisane_vectors jerk,
                                          double *pot);

// Creates a simulation from the text of a configuration in TOML (NULL for an empty one) and writes its handle to
// `simulation`; tisane_simulation_close closes it. The text is that of the program's files: units, softening, integrator,
// force; `[initial]` for a model or a file, or without it particles are added by tisane_simulation_add. Relative paths
// start at the working directory.
//
// TISANE_INPUT for a mistake in the text, which is named with its line.
enum tisane_status tisane_simulation_new(const char *toml,
                                         uint64_t *simulation);

// Creates a simulation from a configuration file.
//
// TISANE_INPUT as for tisane_simulation_new, and if the file cannot be read.
enum tisane_status tisane_simulation_from_file(const char *path, uint64_t *simulation);

// Loads a simulation that tisane_simulation_save saved, or a checkpoint of the program: it goes on with the same bits.
//
// TISANE_INPUT if the file is not a whole checkpoint.
enum tisane_status tisane_simulation_load(const char *path, uint64_t *simulation);

// Saves the state and the settings in one file, which replaces a file of that name whole or not at all.
//
// TISANE_STORAGE if it cannot be written; otherwise as tisane_simulation_integrate.
enum tisane_status tisane_simulation_save(uint64_t simulation, const char *path);

// Closes a simulation; its handle is never used again.
enum tisane_status tisane_simulation_close(uint64_t simulation);

// Changes a setting, as "section.key=value" with a value in TOML: "integrator.multipoint.eta=0.2". Once the simulation
// has started, the integration begins anew with it at the present time.
//
// TISANE_INPUT if there is no such setting or its value is wrong; then nothing has changed.
enum tisane_status tisane_simulation_set(uint64_t simulation, const char *setting);

// Adds n particles with the identities `id` (NULL: the numbers that follow the largest), masses, positions and
// velocities, which are copied. Writes their identities to `added`, unless it is NULL.
//
// TISANE_INPUT for identities that come twice, negative masses and numbers that are not finite; then nothing has changed.
enum tisane_status tisane_simulation_add(uint64_t simulation,
                                         int64_t n,
                                         const uint64_t *id,
                                         const double *mass,
                                         struct tisane_vectors pos,
                                         struct tisane_vectors vel,
                                         uint64_t *added);

// Removes the n particles with the identities `id`.
//
// TISANE_INPUT for an identity that there is not; then nothing has changed.
enum tisane_status tisane_simulation_remove(uint64_t simulation, int64_t n, const uint64_t *id);

// Gives the n particles with the identities `id` new masses (NULL: as they are), positions and velocities (left out: as
// they are).
//
// TISANE_INPUT for an identity that there is not, negative masses and numbers that are not finite; then nothing has
// changed.
enum tisane_status tisane_simulation_change(uint64_t simulation,
                                            int64_t n,
                                            const uint64_t *id,
                                            const double *mass,
                                            struct tisane_vectors pos,
                                            struct tisane_vectors vel);

// Integrates to the time `t`, which may be any that is not before the present one; asking for more times changes no bit.
// Calls `go_on` with `data` after block steps, as often as it asks for, unless it is NULL, from a thread of the library while
// the caller waits. TISANE_STOPPED if it ended the integration: the present time is then that of its last call, and a
// further call of this function goes on from there.
//
// TISANE_INPUT for particles and settings that do not go together, such as two particles at one place without
// softening; TISANE_FAILED if the integration fails.
enum tisane_status tisane_simulation_integrate(uint64_t simulation,
                                               double t,
                                               tisane_go_on go_on,
                                               void *data);

// Writes the number of particles to `n`.
enum tisane_status tisane_simulation_count(uint64_t simulation, int64_t *n);

// Writes the present time to `t`.
enum tisane_status tisane_simulation_time(uint64_t simulation, double *t);

// Writes the place in the external fields of the origin that positions are relative to, with the section `[orbit]`, to the three
// numbers of `position`.
enum tisane_status tisane_simulation_orbit_position(uint64_t simulation,
                                                    double *position);

// Writes the velocity of that origin to the three numbers of `velocity`.
enum tisane_status tisane_simulation_orbit_velocity(uint64_t simulation, double *velocity);

// Writes the identities, masses, positions and velocities of all n particles at the present time; each array may be
// NULL. n must be the number of particles.
enum tisane_status tisane_simulation_particles(uint64_t simulation,
                                               int64_t n,
                                               uint64_t *id,
                                               double *mass,
                                               struct tisane_vectors pos,
                                               struct tisane_vectors vel);

// Writes the accelerations, jerks (zero with the leapfrog) and potentials per unit mass of all n particles at the present
// time, those by external fields included; each array may be left out. n must be the number of particles.
enum tisane_status tisane_simulation_forces(uint64_t simulation,
                                            int64_t n,
                                            struct tisane_vectors acc,
                                            struct tisane_vectors jerk,
                                            double *pot);

// Writes the accelerations, jerks and potentials that all particles and external fields cause at n points with the
// positions `pos` and the velocities `vel` (left out: at rest), in f64; each result may be left out.
enum tisane_status tisane_simulation_field_at(uint64_t simulation,
                                              int64_t n,
                                              struct tisane_vectors pos,
                                              struct tisane_vectors vel,
                                              struct tisane_vectors acc,
                                              struct tisane_vectors jerk,
                                              double *pot);

// Measures energies, momenta and errors at the present time and writes them to `measured`.
enum tisane_status tisane_simulation_measure(uint64_t simulation, struct tisane_measured *measured);

// Writes the SHA-256 of the state of the integration as 64 hexadecimal digits and a zero byte to `text` of `size` bytes:
// after the same block steps that of the program tisane.
enum tisane_status tisane_simulation_state_sha256(uint64_t simulation,
                                                  char *text,
                                                  size_t size);

// Writes the name of the engine with the reason for its choice to `text` of `size` bytes; empty before the start.
enum tisane_status tisane_simulation_engine(uint64_t simulation, char *text, size_t size);

// Gives the n particles with the identities `id` the values in the column `name` that the law of the simulation reads:
// "charge", for instance. Particles that were added have no value in it, and the simulation goes on once all have one.
//
// TISANE_INPUT for a column that the law does not read, an identity that there is not, and numbers that are not finite;
// then nothing has changed.
enum tisane_status tisane_simulation_set_column(uint64_t simulation,
                                                const char *name,
                                                int64_t n,
                                                const uint64_t *id,
                                                const double *values);

// Writes the values of all n particles in the column `name` that the law of the simulation reads, in the order of
// tisane_simulation_particles: NaN for those that were given none. n must be the number of particles.
//
// TISANE_INPUT for a column that the law does not read.
enum tisane_status tisane_simulation_column(uint64_t simulation, const char *name, int64_t n, double *values);

// Writes a quantity of all n stars at the present time, in the order of tisane_simulation_particles, of a simulation with the
// section `[stellar_evolution]`: "type" (0 to 15, Hurley, Pols & Tout 2000), "initial_mass", "core_mass", "age" (in the
// present life, which begins anew for helium stars and remnants), "radius", in the units of the simulation; "luminosity" in
// solar luminosities; "temperature" in K, NaN where nothing is left. n must be the number of particles.
//
// TISANE_INPUT for another name, and if stars do not age; otherwise as tisane_simulation_integrate. Masses of stars that age
// cannot be changed after the start: tisane_simulation_change is TISANE_INPUT then, but for the masses that they have.
enum tisane_status tisane_simulation_star_column(uint64_t simulation,
                                                 const char *name,
                                                 int64_t n,
                                                 double *values);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TISANE_H */

/** Rows of vectors: double a[n][3]. */
static inline tisane_vectors tisane_rows(const double *a) {
    double *p = (double *)a;
    tisane_vectors v = {p, p + 1, p + 2, 3};
    return v;
}

/** Three columns of numbers. */
static inline tisane_vectors tisane_columns(const double *x, const double *y, const double *z) {
    tisane_vectors v = {(double *)x, (double *)y, (double *)z, 1};
    return v;
}

/** No vectors, where they may be left out. */
static inline tisane_vectors tisane_none(void) {
    tisane_vectors v = {NULL, NULL, NULL, 0};
    return v;
}
