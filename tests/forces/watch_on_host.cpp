// Evaluates `largest_field` of the search for pairs on the host: compiled by a C++ compiler with the folder of kernels on the include
// path. Reads from standard input, as 8-byte numbers, the limits (forms, joins, min_binding), and for each pair up to the end position,
// velocity, mass, flag of a subsystem, and by how much the state may be off; writes a number for each.
#include "cuda_on_host.hpp"

#include "watch.cuh"

struct Limits {
    double forms, joins, min_binding;
};

int main() {
    Limits limits;
    double of[10];
    if (std::fread(&limits, 8, 3, stdin) != 3) return 1;
    while (std::fread(of, 8, 10, stdin) == 10) {
        const double pos[3] = {of[0], of[1], of[2]}, vel[3] = {of[3], of[4], of[5]};
        double found = largest_field(limits, pos, vel, of[6], of[7] != 0.0, of[8], of[9]);
        std::fwrite(&found, 8, 1, stdout);
    }
}
