! tisane for Fortran: the functions of tisane.h, with the same names, arguments and results.
!
! Vectors are given by tisane_rows(a) for real(c_double) :: a(3, n), which is the row-major [n][3] of C, or by
! tisane_columns(x, y, z); tisane_none() stands for none. The arrays must have the attribute target, and be contiguous.
! Texts are given as they are: the wrappers add the zero byte.
module tisane
    use, intrinsic :: iso_c_binding
    implicit none

    integer(c_int32_t), parameter :: TISANE_ABI_VERSION = 1
    integer(c_int), parameter :: TISANE_OK = 0, TISANE_ARGUMENT = 1, TISANE_INPUT = 2, TISANE_STOPPED = 3, &
        TISANE_FAILED = 4, TISANE_STORAGE = 5, TISANE_BUSY = 6, TISANE_BUG = 7

    type, bind(c) :: tisane_vectors
        type(c_ptr) :: x = c_null_ptr, y = c_null_ptr, z = c_null_ptr
        integer(c_size_t) :: stride = 0
    end type

    type, bind(c) :: tisane_measured
        real(c_double) :: time, kinetic_energy, potential_energy, external_potential_energy, energy, energy_error
        real(c_double) :: momentum(3), angular_momentum(3), centre_of_mass(3)
        real(c_double) :: virial_ratio, largest_acceleration_error
        integer(c_int64_t) :: block_steps, particle_steps, pairs
    end type

    interface
        function tisane_abi_version_of_library() bind(c, name="tisane_abi_version") result(version)
            import :: c_int32_t
            integer(c_int32_t) :: version
        end function

        function c_last_error() bind(c, name="tisane_last_error") result(text)
            import :: c_ptr
            type(c_ptr) :: text
        end function

        function c_forces_open(engine, precision, softening, forces) bind(c, name="tisane_forces_open") result(status)
            import :: c_int, c_char, c_double, c_int64_t
            character(kind=c_char), intent(in) :: engine(*), precision(*)
            real(c_double), value :: softening
            integer(c_int64_t), intent(out) :: forces
            integer(c_int) :: status
        end function

        function tisane_forces_close(forces) bind(c) result(status)
            import :: c_int, c_int64_t
            integer(c_int64_t), value :: forces
            integer(c_int) :: status
        end function

        function tisane_forces_set(forces, n, mass, pos, vel) bind(c) result(status)
            import :: c_int, c_int64_t, c_double, tisane_vectors
            integer(c_int64_t), value :: forces, n
            real(c_double), intent(in) :: mass(*)
            type(tisane_vectors), value :: pos, vel
            integer(c_int) :: status
        end function

        function tisane_forces_set_some(forces, n, index, mass, pos, vel) bind(c) result(status)
            import :: c_int, c_int64_t, c_double, tisane_vectors
            integer(c_int64_t), value :: forces, n
            integer(c_int64_t), intent(in) :: index(*)
            real(c_double), intent(in) :: mass(*)
            type(tisane_vectors), value :: pos, vel
            integer(c_int) :: status
        end function

        ! exclude and pot are addresses, as of c_loc, so that they may be c_null_ptr. Sources are numbered from 0.
        function tisane_forces_evaluate(forces, n, exclude, pos, vel, acc, jerk, pot) bind(c) result(status)
            import :: c_int, c_int64_t, c_ptr, tisane_vectors
            integer(c_int64_t), value :: forces, n
            type(c_ptr), value :: exclude, pot
            type(tisane_vectors), value :: pos, vel, acc, jerk
            integer(c_int) :: status
        end function

        function c_simulation_new(toml, simulation) bind(c, name="tisane_simulation_new") result(status)
            import :: c_int, c_char, c_int64_t
            character(kind=c_char), intent(in) :: toml(*)
            integer(c_int64_t), intent(out) :: simulation
            integer(c_int) :: status
        end function

        function c_simulation_from_file(path, simulation) bind(c, name="tisane_simulation_from_file") result(status)
            import :: c_int, c_char, c_int64_t
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int64_t), intent(out) :: simulation
            integer(c_int) :: status
        end function

        function c_simulation_load(path, simulation) bind(c, name="tisane_simulation_load") result(status)
            import :: c_int, c_char, c_int64_t
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int64_t), intent(out) :: simulation
            integer(c_int) :: status
        end function

        function c_simulation_save(simulation, path) bind(c, name="tisane_simulation_save") result(status)
            import :: c_int, c_char, c_int64_t
            integer(c_int64_t), value :: simulation
            character(kind=c_char), intent(in) :: path(*)
            integer(c_int) :: status
        end function

        function c_simulation_set(simulation, setting) bind(c, name="tisane_simulation_set") result(status)
            import :: c_int, c_char, c_int64_t
            integer(c_int64_t), value :: simulation
            character(kind=c_char), intent(in) :: setting(*)
            integer(c_int) :: status
        end function

        function tisane_simulation_close(simulation) bind(c) result(status)
            import :: c_int, c_int64_t
            integer(c_int64_t), value :: simulation
            integer(c_int) :: status
        end function

        ! id and added are addresses, as of c_loc, so that they may be c_null_ptr.
        function tisane_simulation_add(simulation, n, id, mass, pos, vel, added) bind(c) result(status)
            import :: c_int, c_int64_t, c_double, c_ptr, tisane_vectors
            integer(c_int64_t), value :: simulation, n
            type(c_ptr), value :: id, added
            real(c_double), intent(in) :: mass(*)
            type(tisane_vectors), value :: pos, vel
            integer(c_int) :: status
        end function

        function tisane_simulation_remove(simulation, n, id) bind(c) result(status)
            import :: c_int, c_int64_t
            integer(c_int64_t), value :: simulation, n
            integer(c_int64_t), intent(in) :: id(*)
            integer(c_int) :: status
        end function

        ! mass is an address, as of c_loc, so that it may be c_null_ptr.
        function tisane_simulation_change(simulation, n, id, mass, pos, vel) bind(c) result(status)
            import :: c_int, c_int64_t, c_ptr, tisane_vectors
            integer(c_int64_t), value :: simulation, n
            integer(c_int64_t), intent(in) :: id(*)
            type(c_ptr), value :: mass
            type(tisane_vectors), value :: pos, vel
            integer(c_int) :: status
        end function

        ! name ends with c_null_char.
        function tisane_simulation_set_column(simulation, name, n, id, values) bind(c) result(status)
            import :: c_int, c_int64_t, c_double, c_char
            integer(c_int64_t), value :: simulation, n
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int64_t), intent(in) :: id(*)
            real(c_double), intent(in) :: values(*)
            integer(c_int) :: status
        end function

        function tisane_simulation_column(simulation, name, n, values) bind(c) result(status)
            import :: c_int, c_int64_t, c_double, c_char
            integer(c_int64_t), value :: simulation, n
            character(kind=c_char), intent(in) :: name(*)
            real(c_double), intent(out) :: values(*)
            integer(c_int) :: status
        end function

        ! name ends with c_null_char.
        function tisane_simulation_star_column(simulation, name, n, values) bind(c) result(status)
            import :: c_int, c_int64_t, c_double, c_char
            integer(c_int64_t), value :: simulation, n
            character(kind=c_char), intent(in) :: name(*)
            real(c_double), intent(out) :: values(*)
            integer(c_int) :: status
        end function

        ! go_on is c_null_funptr or c_funloc of a bind(c) function (time, block_steps, data), all by value.
        function tisane_simulation_integrate(simulation, t, go_on, data) bind(c) result(status)
            import :: c_int, c_int64_t, c_double, c_ptr, c_funptr
            integer(c_int64_t), value :: simulation
            real(c_double), value :: t
            type(c_funptr), value :: go_on
            type(c_ptr), value :: data
            integer(c_int) :: status
        end function

        function tisane_simulation_count(simulation, n) bind(c) result(status)
            import :: c_int, c_int64_t
            integer(c_int64_t), value :: simulation
            integer(c_int64_t), intent(out) :: n
            integer(c_int) :: status
        end function

        function tisane_simulation_time(simulation, t) bind(c) result(status)
            import :: c_int, c_int64_t, c_double
            integer(c_int64_t), value :: simulation
            real(c_double), intent(out) :: t
            integer(c_int) :: status
        end function

        function tisane_simulation_orbit_position(simulation, position) bind(c) result(status)
            import :: c_int, c_int64_t, c_double
            integer(c_int64_t), value :: simulation
            real(c_double), intent(out) :: position(3)
            integer(c_int) :: status
        end function

        function tisane_simulation_orbit_velocity(simulation, velocity) bind(c) result(status)
            import :: c_int, c_int64_t, c_double
            integer(c_int64_t), value :: simulation
            real(c_double), intent(out) :: velocity(3)
            integer(c_int) :: status
        end function

        ! id, mass and pot are addresses, as of c_loc, so that they may be c_null_ptr.
        function tisane_simulation_particles(simulation, n, id, mass, pos, vel) bind(c) result(status)
            import :: c_int, c_int64_t, c_ptr, tisane_vectors
            integer(c_int64_t), value :: simulation, n
            type(c_ptr), value :: id, mass
            type(tisane_vectors), value :: pos, vel
            integer(c_int) :: status
        end function

        function tisane_simulation_forces(simulation, n, acc, jerk, pot) bind(c) result(status)
            import :: c_int, c_int64_t, c_ptr, tisane_vectors
            integer(c_int64_t), value :: simulation, n
            type(tisane_vectors), value :: acc, jerk
            type(c_ptr), value :: pot
            integer(c_int) :: status
        end function

        function tisane_simulation_field_at(simulation, n, pos, vel, acc, jerk, pot) bind(c) result(status)
            import :: c_int, c_int64_t, c_ptr, tisane_vectors
            integer(c_int64_t), value :: simulation, n
            type(tisane_vectors), value :: pos, vel, acc, jerk
            type(c_ptr), value :: pot
            integer(c_int) :: status
        end function

        function tisane_simulation_measure(simulation, measured) bind(c) result(status)
            import :: c_int, c_int64_t, tisane_measured
            integer(c_int64_t), value :: simulation
            type(tisane_measured), intent(out) :: measured
            integer(c_int) :: status
        end function

        function tisane_simulation_state_sha256(simulation, text, size) bind(c) result(status)
            import :: c_int, c_int64_t, c_char, c_size_t
            integer(c_int64_t), value :: simulation
            character(kind=c_char), intent(out) :: text(*)
            integer(c_size_t), value :: size
            integer(c_int) :: status
        end function

        function tisane_simulation_engine(simulation, text, size) bind(c) result(status)
            import :: c_int, c_int64_t, c_char, c_size_t
            integer(c_int64_t), value :: simulation
            character(kind=c_char), intent(out) :: text(*)
            integer(c_size_t), value :: size
            integer(c_int) :: status
        end function
    end interface

contains

    ! Rows of vectors: a(3, n).
    function tisane_rows(a) result(v)
        real(c_double), intent(in), target, contiguous :: a(:, :)
        type(tisane_vectors) :: v
        if (size(a, 2) == 0) return
        v = tisane_vectors(c_loc(a(1, 1)), c_loc(a(2, 1)), c_loc(a(3, 1)), size(a, 1, kind=c_size_t))
    end function

    ! Three columns of numbers.
    function tisane_columns(x, y, z) result(v)
        real(c_double), intent(in), target, contiguous :: x(:), y(:), z(:)
        type(tisane_vectors) :: v
        if (size(x) == 0) return
        v = tisane_vectors(c_loc(x(1)), c_loc(y(1)), c_loc(z(1)), 1_c_size_t)
    end function

    ! No vectors, where they may be left out.
    function tisane_none() result(v)
        type(tisane_vectors) :: v
        v = tisane_vectors()
    end function

    ! The text of the last error of this thread.
    function tisane_last_error() result(text)
        character(:), allocatable :: text
        character(kind=c_char), pointer :: bytes(:)
        integer :: length, k
        call c_f_pointer(c_last_error(), bytes, [65536])
        length = 0
        do while (bytes(length + 1) /= c_null_char)
            length = length + 1
        end do
        allocate (character(length) :: text)
        do k = 1, length
            text(k:k) = bytes(k)
        end do
    end function

    function tisane_forces_open(engine, precision, softening, forces) result(status)
        character(*), intent(in) :: engine, precision
        real(c_double), intent(in) :: softening
        integer(c_int64_t), intent(out) :: forces
        integer(c_int) :: status
        status = c_forces_open(engine // c_null_char, precision // c_null_char, softening, forces)
    end function

    function tisane_simulation_new(toml, simulation) result(status)
        character(*), intent(in) :: toml
        integer(c_int64_t), intent(out) :: simulation
        integer(c_int) :: status
        status = c_simulation_new(toml // c_null_char, simulation)
    end function

    function tisane_simulation_from_file(path, simulation) result(status)
        character(*), intent(in) :: path
        integer(c_int64_t), intent(out) :: simulation
        integer(c_int) :: status
        status = c_simulation_from_file(path // c_null_char, simulation)
    end function

    function tisane_simulation_load(path, simulation) result(status)
        character(*), intent(in) :: path
        integer(c_int64_t), intent(out) :: simulation
        integer(c_int) :: status
        status = c_simulation_load(path // c_null_char, simulation)
    end function

    function tisane_simulation_save(simulation, path) result(status)
        integer(c_int64_t), intent(in) :: simulation
        character(*), intent(in) :: path
        integer(c_int) :: status
        status = c_simulation_save(simulation, path // c_null_char)
    end function

    function tisane_simulation_set(simulation, setting) result(status)
        integer(c_int64_t), intent(in) :: simulation
        character(*), intent(in) :: setting
        integer(c_int) :: status
        status = c_simulation_set(simulation, setting // c_null_char)
    end function
end module tisane
