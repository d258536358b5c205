/* The GRAPE-6 library of tisane: forces on particles by the direct sum over all sources, on the CPU or a GPU.
 *
 * Link with -lg6. A Fortran program calls the same functions without the underscore that the compiler appends: it passes
 * the address of every number, as the second form of each function below takes it.
 *
 * An int that a function returns is 0 or a result, or one of the negative numbers below. Arrays of vectors are [n][3]; they
 * may overlap. Any number of threads may call: calls for one cluster wait for one another.
 *
 * The environment chooses what g6_open opens:
 *   TISANE_DEVICE     cpu (the default), or the number of a GPU
 *   TISANE_PRECISION  precision mode: f64 (the default on the CPU), mixed (the default on a GPU), and others
 *   TISANE_NPIPES     what g6_npipes returns: 48 by default, 256 on a GPU
 *   TISANE_VERBOSE    1: a line on standard error for what was opened, and for every call that fails
 *   RAYON_NUM_THREADS number of threads on the CPU
 */
#ifndef TISANE_G6_H
#define TISANE_G6_H

#ifdef __cplusplus
extern "C" {
#endif

#define G6_ERROR_SETTING (-1)  /* an environment variable with a wrong value, or a device that cannot be opened */
#define G6_ERROR_CLOSED (-2)   /* a cluster that is not open */
#define G6_ERROR_ARGUMENT (-3) /* a null pointer, or a number or address out of range */
#define G6_ERROR_NUMBER (-4)   /* a number or a force that is not finite or that the mode cannot represent */
#define G6_ERROR_ENGINE (-5)   /* the engine failed */
#define G6_ERROR_INTERNAL (-6) /* a mistake in this library: please report it */

/* Opens a cluster, an engine without sources, in place of one that is open under this number. Clusters know nothing of
 * one another. A number that was never opened stands for the open cluster, if there is but one. */
int g6_open(int id);
int g6_open_(const int *id);
int g6_close(int id);
int g6_close_(const int *id);

/* Forget the last call. The sources stay. */
int g6_reset(int id);
int g6_reset_(const int *id);
int g6_reset_fofpga(int id);
int g6_reset_fofpga_(const int *id);
int g6_reinitialize(int id);
int g6_reinitialize_(const int *id);

/* Number of targets for which a program needs arrays. A call takes up to 131072. */
int g6_npipes(void);
int g6_npipes_(void);
int g6_get_number_of_pipelines(void);
int g6_get_number_of_pipelines_(void);

/* Do nothing: any unit is good. */
int g6_set_tunit(double unit);
int g6_set_tunit_(const void *unit);
int g6_set_xunit(double unit);
int g6_set_xunit_(const void *unit);

/* Sets the time to which the sources are predicted. */
int g6_set_ti(int id, double ti);
int g6_set_ti_(const int *id, const double *ti);

/* Stores a source at an address, 0 to 8388607: its identity (index), its time, mass, and at that time a''/18, jerk/6,
 * acc/2, velocity and position. dtj is not used. An address with the index -1 counts as empty. A source that is refused
 * makes calls that take its address fail. */
int g6_set_j_particle(int id, int address, int index, double tj, double dtj, double mass, const double k18[3],
                      const double j6[3], const double a2[3], const double v[3], const double x[3]);
int g6_set_j_particle_(const int *id, const int *address, const int *index, const double *tj, const double *dtj,
                       const double *mass, const double k18[3], const double j6[3], const double a2[3],
                       const double v[3], const double x[3]);

/* Evaluates the forces of the sources at the addresses 0 to nj - 1 on ni targets, which stand where they are at the time.
 * A target does not feel sources of its own index. eps2 is the square of the softening, h2 that of the radius of each
 * neighbour list. The old forces are not used and may be null, as may h2. */
void g6calc_firsthalf(int id, int nj, int ni, const int index[], double xi[][3], double vi[][3],
                      double aold[][3], double jold[][3], const double phiold[], double eps2,
                      const double h2[]);
void g6calc_firsthalf_(const int *id, const int *nj, const int *ni, const int index[], double xi[][3],
                       double vi[][3], double aold[][3], double jold[][3], const double phiold[],
                       const double *eps2, const double h2[]);

/* Return the forces that the last g6calc_firsthalf evaluated: acceleration, jerk, and potential, which is negative. Only ni
 * is used of what was given there. After an error the forces are NaN.
 *   2: and the index of the nearest source in nnb, -1 where there is none
 *   p: and its distance in rnnb, softened as the force is
 *   n: and make the neighbour lists, which otherwise g6_read_neighbour_list does */
int g6calc_lasthalf(int id, int nj, int ni, const int index[], double xi[][3], double vi[][3], double eps2,
                    const double h2[], double acc[][3], double jerk[][3], double pot[]);
int g6calc_lasthalf_(const int *id, const int *nj, const int *ni, const int index[], double xi[][3],
                     double vi[][3], const double *eps2, const double h2[], double acc[][3], double jerk[][3],
                     double pot[]);
int g6calc_lasthalf2(int id, int nj, int ni, const int index[], double xi[][3], double vi[][3], double eps2,
                     const double h2[], double acc[][3], double jerk[][3], double pot[], int nnb[]);
int g6calc_lasthalf2_(const int *id, const int *nj, const int *ni, const int index[], double xi[][3],
                      double vi[][3], const double *eps2, const double h2[], double acc[][3], double jerk[][3],
                      double pot[], int nnb[]);
int g6calc_lasthalf2p(int id, int nj, int ni, const int index[], double xi[][3], double vi[][3], double eps2,
                      const double h2[], double acc[][3], double jerk[][3], double pot[], int nnb[], float rnnb[]);
int g6calc_lasthalf2p_(const int *id, const int *nj, const int *ni, const int index[], double xi[][3],
                       double vi[][3], const double *eps2, const double h2[], double acc[][3], double jerk[][3],
                       double pot[], int nnb[], float rnnb[]);
int g6calc_lasthalfn(int id, int nj, int ni, const int index[], double xi[][3], double vi[][3], double eps2,
                     const double h2[], double acc[][3], double jerk[][3], double pot[]);
int g6calc_lasthalfn_(const int *id, const int *nj, const int *ni, const int index[], double xi[][3],
                      double vi[][3], const double *eps2, const double h2[], double acc[][3], double jerk[][3],
                      double pot[]);
int g6calc_lasthalf2n(int id, int nj, int ni, const int index[], double xi[][3], double vi[][3], double eps2,
                      const double h2[], double acc[][3], double jerk[][3], double pot[], int nnb[]);
int g6calc_lasthalf2n_(const int *id, const int *nj, const int *ni, const int index[], double xi[][3],
                       double vi[][3], const double *eps2, const double h2[], double acc[][3], double jerk[][3],
                       double pot[], int nnb[]);
int g6calc_lasthalf2np(int id, int nj, int ni, const int index[], double xi[][3], double vi[][3],
                       double eps2, const double h2[], double acc[][3], double jerk[][3], double pot[], int nnb[],
                       float rnnb[]);
int g6calc_lasthalf2np_(const int *id, const int *nj, const int *ni, const int index[], double xi[][3],
                        double vi[][3], const double *eps2, const double h2[], double acc[][3], double jerk[][3],
                        double pot[], int nnb[], float rnnb[]);

/* Makes the neighbour lists of the last call: all sources at r^2 < h2, r^2 without the softening. Returns 1 if one is longer
 * than 16777216 / ni: then take smaller radii and call again. To be called before sources or time change. */
int g6_read_neighbour_list(int id);
int g6_read_neighbour_list_(const int *id);
int g6_read_neighbour_list_old(int id);
int g6_read_neighbour_list_old_(const int *id);

/* Returns the list of target ipipe (from 0): the indices of the sources, ascending, and their number in n. The target's
 * own index is among them if g6_npipes() is more than 48, as in Sapporo, and not otherwise, as on a GRAPE-6. Returns 1 if
 * there are more than maxlength: then n is maxlength and the list is cut. */
int g6_get_neighbour_list(int id, int ipipe, int maxlength, int *n, int list[]);
int g6_get_neighbour_list_(const int *id, const int *ipipe, const int *maxlength, int *n, int list[]);

/* Do nothing, and return 0: the lists are always sorted, no sum overflows, sources are always buffered, memory grows with
 * the addresses, and no files are written. */
int g6_set_neighbour_list_sort_mode(int mode);
int g6_set_neighbour_list_sort_mode_(const int *mode);
int g6_set_overflow_flag_test_mode(int acc, int jerk, int pot);
int g6_set_overflow_flag_test_mode_(const int *acc, const int *jerk, const int *pot);
int g6_initialize_jp_buffer(int id, int size);
int g6_initialize_jp_buffer_(const int *id, const int *size);
int g6_flush_jp_buffer(int id);
int g6_flush_jp_buffer_(const int *id);
int g6_setup_njdata(int id, int nj);
int g6_setup_njdata_(const int *id, const int *nj);
int g6_dump(double t, int n, const double m[], double x[][3], double v[][3]);
int g6_dump_(const double *t, const int *n, const double m[], double x[][3], double v[][3]);
int g6_debugfunc(int number);
int g6_debugfunc_(const int *number);
int g6_debugfunc_double(double number);
int g6_debugfunc_double_(const double *number);

/* Returns 1. */
int g6_get_neighbour_list_sort_mode(void);
int g6_get_neighbour_list_sort_mode_(void);

/* Of Sapporo. The first two open cluster 0, on the device that the environment chooses. get_j_part_data returns what is
 * known of an address of the open cluster with the lowest number; in C++ its last three arguments may be declared as
 * references. */
int g6_open_special(int devices, const int list[]);
int g6_open_special2(int devices, const int list[], int most);
void force_j_particle_send(void);
int get_j_part_data(int address, int nj, double pos[3], double vel[3], double acc[3], double jerk[3],
                    double predicted_pos[3], double predicted_vel[3], double *mass, double *eps2, int *index);

#ifdef __cplusplus
}
#endif

#endif
