/* Checks of the test programs: the first that fails ends the program with its line. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tisane.h>

#define check(good, what)                                                                                              \
    do {                                                                                                               \
        if (!(good)) {                                                                                                 \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, what);                                          \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define good(call)                                                                                                     \
    do {                                                                                                               \
        if ((call) != TISANE_OK) {                                                                                     \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, tisane_last_error());                        \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

/** Expects a status, and words in the text of the error. */
#define fails(call, status, words)                                                                                     \
    do {                                                                                                               \
        int found_ = (int)(call);                                                                                      \
        if (found_ != (int)(status) || !strstr(tisane_last_error(), words)) {                                          \
            fprintf(stderr, "%s:%d: %s: status %d, %s\n", __FILE__, __LINE__, #call, found_, tisane_last_error());     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define close_to(found, expected, tolerance, what)                                                                     \
    check(fabs((found) - (expected)) <= (tolerance) * (fabs(expected) + 1e-3), what)
