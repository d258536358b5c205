/* A program that has C forms of its own and calls the Fortran names, as ph4 does: neither library may enter them. */
#include <stdio.h>

int g6_open_(int *id);
int g6_close_(int *id);
int g6_npipes_(void);

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
    int open = g6_open(0), npipes = g6_npipes(), close = g6_close(0);
    printf("open=%d npipes=%d close=%d entered=%d\n", open, npipes, close, entered);
    return 0;
}
