/* A program like ph4. It has C forms of its own and calls the Fortran names: neither library may enter them. And it opens the
 * number of its GPU and then calls the number 0, which stands for the only open cluster. */
#include <stdio.h>

int g6_open_(int *id);
int g6_close_(int *id);
int g6_npipes_(void);
int g6_set_ti_(int *id, double *ti);

static int entered;

int g6_open(int id)
{
    entered++;
    return g6_open_(&id);
}

int g6_close(int id)
{
    entered++;
    return g6_close_(&id);
}

int g6_npipes(void)
{
    entered++;
    return g6_npipes_();
}

int main(void)
{
    int zero = 0, open = g6_open(7), npipes = g6_npipes();
    double ti = 1.0;
    int only = g6_set_ti_(&zero, &ti), second = g6_open(8), one_of_two = g6_set_ti_(&zero, &ti);
    int closed = g6_close(8), close = g6_close(7), none = g6_set_ti_(&zero, &ti);
    printf("open=%d%d npipes=%d only=%d of-two=%d none=%d close=%d%d entered=%d\n", open, second, npipes, only, one_of_two,
           none, close, closed, entered);
    return 0;
}
