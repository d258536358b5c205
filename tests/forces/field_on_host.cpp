// Evaluates an external field as the kernels do, on the host: compiled by a C++ compiler with USER_FIELD, the file of the field's type,
// and with the folder of kernels on the include path. Reads from standard input, as 8-byte numbers, the time, and position and velocity
// of each point up to the end; writes for each point acceleration and jerk by the field that acts on the origin too, and by the one
// that moves with it.
#include "cuda_on_host.hpp"

#include "elementary.cuh"

constexpr u32 FIELD_SUMS = 6;

#include USER_FIELD

int main() {
    double t, at[6];
    if (std::fread(&t, 8, 1, stdin) != 1) return 1;
    while (std::fread(at, 8, 6, stdin) == 6) {
        double found[UserField::PARTS][FIELD_SUMS], sums[2 * FIELD_SUMS];
        const double pos[3] = {at[0], at[1], at[2]}, vel[3] = {at[3], at[4], at[5]};
        for (u32 part = 0; part < UserField::PARTS; ++part) UserField::part(part, pos, vel, t, found[part]);
        for (u32 s = 0; s < FIELD_SUMS; ++s) {
            auto of = [&](u32 part) { return found[part][s]; };
            sums[s] = UserField::whole(of), sums[FIELD_SUMS + s] = UserField::carried(of);
        }
        std::fwrite(sums, 8, 2 * FIELD_SUMS, stdout);
    }
}
