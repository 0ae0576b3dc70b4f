! SPDX-License-Identifier: Apache-2.0
! Columns by MPI's Fortran interface, begun and completed there and in C (fortran_helper.c): all of it goes through the
! library. With an argument it has to move them.
program fortran_program
  implicit none
  include 'mpif.h'
  integer, parameter :: doubles = 20
  integer :: rank, peer, error, column, place, i
  integer :: requests(2), statuses(MPI_STATUS_SIZE, 2)
  double precision :: out(2 * doubles), in(2 * doubles), line(doubles)
  logical :: done
  integer, external :: c_moved
  external :: c_begin, c_complete

  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  peer = 1 - rank
  call mpi_type_vector(doubles, 1, 2, MPI_DOUBLE_PRECISION, column, error)
  call mpi_type_commit(column, error)
  out = rank

  do i = 1, 4
    in = -1
    if (i == 4) then
      call c_begin(in, out, column, peer, requests)
    else
      call mpi_irecv(in, 1, column, peer, i, MPI_COMM_WORLD, requests(1), error)
      call mpi_isend(out, 1, column, peer, i, MPI_COMM_WORLD, requests(2), error)
    end if
    select case (i)
    case (1, 4)
      call mpi_waitall(2, requests, statuses, error)
    case (2)
      done = .false.
      do while (.not. done)
        call mpi_testall(2, requests, done, statuses, error)
      end do
    case (3)
      call c_complete(requests)
    end select
    call check()
  end do

  in = -1
  call mpi_sendrecv(out, 1, column, peer, 7, in, 1, column, peer, 7, MPI_COMM_WORLD, statuses, error)
  call check()
  in = -1
  if (rank == 0) call mpi_send(out, 1, column, peer, 8, MPI_COMM_WORLD, error)
  call mpi_recv(in, 1, column, peer, 8, MPI_COMM_WORLD, statuses, error)
  if (rank == 1) call mpi_send(out, 1, column, peer, 8, MPI_COMM_WORLD, error)
  call check()
  place = 0
  call mpi_pack(in, 1, column, line, 8 * doubles, place, MPI_COMM_WORLD, error)
  if (place /= 8 * doubles .or. any(line /= peer)) call fail('packed')

  if (c_moved() /= min(command_argument_count(), 1)) call fail('taken by the library')
  call mpi_type_free(column, error)
  call mpi_barrier(MPI_COMM_WORLD, error)
  if (rank == 0) print '(a)', 'passed: fortran'
  call mpi_finalize(error)

contains

  subroutine check()
    if (any(in(1::2) /= peer) .or. any(in(2::2) /= -1)) call fail('received')
  end subroutine

  subroutine fail(what)
    character(*), intent(in) :: what
    print '(a, i0, 2a)', 'rank ', rank, ': not well: ', what
    call mpi_abort(MPI_COMM_WORLD, 1, error)
  end subroutine

end program
