! Forces and a simulation from Fortran.
module callbacks
    use, intrinsic :: iso_c_binding
    implicit none
    integer(c_int64_t) :: calls = 0

contains

    integer(c_int) function go_on(time, block_steps, data) bind(c)
        real(c_double), value :: time
        integer(c_int64_t), value :: block_steps
        type(c_ptr), value :: data
        calls = block_steps
        go_on = merge(1, 0, time >= 0 .and. .not. c_associated(data))
    end function
end module callbacks

program cluster
    use, intrinsic :: iso_c_binding
    use tisane
    use callbacks
    implicit none
    integer, parameter :: n = 3
    real(c_double), target :: mass(n), pos(3, n), vel(3, n), acc(3, n), jerk(3, n), pot(n), x(1), y(1), z(1)
    integer(c_int64_t), target :: exclude(n), added(n)
    integer(c_int64_t) :: forces, simulation
    type(tisane_measured) :: measured
    real(c_double) :: t
    integer :: i

    mass = [1.0d0, 2.0d0, 3.0d0]
    pos = reshape([0.0d0, 0.0d0, 0.0d0, 2.0d0, 0.0d0, 0.0d0, 0.0d0, 4.0d0, 0.0d0], [3, n])
    vel = reshape([0.0d0, 0.0d0, 0.0d0, 0.0d0, 1.0d0, 0.0d0, -0.8d0, 0.0d0, 0.0d0], [3, n])
    exclude = [(int(i, c_int64_t), i=0, n - 1)]

    call good(tisane_forces_open("cpu", "f64", 0.0d0, forces))
    call good(tisane_forces_set(forces, int(n, c_int64_t), mass, tisane_rows(pos), tisane_rows(vel)))
    call good(tisane_forces_evaluate(forces, int(n, c_int64_t), c_loc(exclude), tisane_rows(pos), tisane_rows(vel), &
        tisane_rows(acc), tisane_rows(jerk), c_loc(pot)))
    call check(abs(acc(1, 1) - 0.5d0) < 1d-15 .and. abs(acc(2, 1) - 0.1875d0) < 1d-15, "acceleration")
    call check(abs(pot(1) + 1.75d0) < 1d-15, "potential")
    x = 2.0d0; y = 4.0d0; z = 0.0d0
    call good(tisane_forces_evaluate(forces, 1_c_int64_t, c_null_ptr, tisane_columns(x, y, z), tisane_none(), &
        tisane_rows(acc), tisane_none(), c_loc(pot)))
    call check(abs(pot(1) + 2.0d0/4 + 3.0d0/2 + 1/sqrt(20.0d0)) < 1d-15, "potential at a point")
    call good(tisane_forces_close(forces))
    call check(tisane_forces_close(forces) == TISANE_ARGUMENT, "a closed engine")
    call check(index(tisane_last_error(), "was closed") > 0, "the text of an error")

    call good(tisane_simulation_new("integrator.multipoint = {}", simulation))
    call good(tisane_simulation_add(simulation, int(n, c_int64_t), c_null_ptr, mass, tisane_rows(pos), tisane_rows(vel), &
        c_loc(added)))
    call good(tisane_simulation_set(simulation, "integrator.multipoint.eta=0.1"))
    call good(tisane_simulation_integrate(simulation, 1.1d0, c_funloc(go_on), c_null_ptr))
    call good(tisane_simulation_time(simulation, t))
    call good(tisane_simulation_measure(simulation, measured))
    call check(abs(t - 1.1d0) < 1d-15 .and. calls > 0 .and. calls == measured%block_steps, "every block step is shown")
    call check(abs(measured%energy_error) < 1d-7, "the energy is conserved")
    call good(tisane_simulation_particles(simulation, int(n, c_int64_t), c_loc(added), c_loc(mass), tisane_rows(pos), &
        tisane_rows(vel)))
    call check(all(added == exclude) .and. pos(2, 2) > 0.5d0, "the particles have moved")
    call good(tisane_simulation_close(simulation))
    print '(a)', "cluster: good"

contains

    subroutine good(status)
        integer(c_int), intent(in) :: status
        if (status /= TISANE_OK) then
            print '(a, i0, 2a)', "status ", status, ": ", tisane_last_error()
            error stop 1
        end if
    end subroutine

    subroutine check(so, what)
        logical, intent(in) :: so
        character(*), intent(in) :: what
        if (.not. so) then
            print '(2a)', "not so: ", what
            error stop 1
        end if
    end subroutine
end program cluster
