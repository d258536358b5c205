! A client in Fortran: two bodies, whose forces are known.
program client
  implicit none
  integer :: id, i, nj, ni, code, index(2), nnb(2), n, list(2)
  integer, external :: g6_npipes, g6calc_lasthalf2, g6_read_neighbour_list, g6_get_neighbour_list
  double precision :: x(3, 2), v(3, 2), a(3, 2), jerk(3, 2), pot(2), h2(2), zero(3), t, dt, m, eps2, error

  id = 0
  nj = 2
  ni = 2
  zero = 0.d0
  t = 0.5d0
  dt = 0.125d0
  m = 2.d0
  eps2 = 0.d0
  h2 = 100.d0
  index = (/ 11, 22 /)
  x = reshape((/ 0.d0, 0.d0, 0.d0, 4.d0, 0.d0, 0.d0 /), (/ 3, 2 /))
  v = reshape((/ 0.d0, 1.d0, 0.d0, 0.d0, -1.d0, 0.d0 /), (/ 3, 2 /))
  call g6_open(id)
  call g6_set_tunit(51)
  call g6_set_xunit(51)
  do i = 1, 2
     call g6_set_j_particle(id, i - 1, index(i), t, dt, m, zero, zero, zero, v(1, i), x(1, i))
  end do
  call g6_set_ti(id, t)
  call g6calc_firsthalf(id, nj, ni, index, x, v, a, jerk, pot, eps2, h2)
  code = g6calc_lasthalf2(id, nj, ni, index, x, v, eps2, h2, a, jerk, pot, nnb)
  error = abs(a(1, 1) - 0.125d0) + abs(a(1, 2) + 0.125d0) + abs(pot(1) + 0.5d0) + abs(pot(2) + 0.5d0)
  error = error + abs(jerk(2, 1) + 0.0625d0) + abs(jerk(2, 2) - 0.0625d0)
  code = code + g6_read_neighbour_list(id)
  code = code + g6_get_neighbour_list(id, 0, 2, n, list)
  call g6_close(id)
  print '(a,i0,a,i0,a,es7.1,a,i0,1x,i0,a,i0,1x,i0)', 'npipes=', g6_npipes(), ' code=', code, ' error=', error, &
       ' nearest=', nnb, ' list=', n, list(1)
end program client
