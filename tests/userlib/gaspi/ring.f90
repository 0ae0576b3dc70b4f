! SPDX-License-Identifier: Apache-2.0
! GASPI in Fortran: a value goes round a ring, reductions, lists, the configuration. Run with 3 ranks.
module reduction
  use GASPI_C_BINDING
  implicit none
contains
  function longest(one, two, res, state, num, element_size, timeout) result(code) bind(C)
    integer(gaspi_number_t), value :: num
    integer(c_int), intent(in) :: one(num), two(num)
    integer(c_int), intent(out) :: res(num)
    integer(c_int), intent(inout) :: state
    integer(gaspi_size_t), value :: element_size
    integer(gaspi_timeout_t), value :: timeout
    integer(gaspi_return_t) :: code
    res = max(one, two)
    state = state + 1
    code = merge(GASPI_SUCCESS, GASPI_ERROR, element_size == 4 .and. timeout /= GASPI_TEST)
  end function longest
end module reduction

program ring
  use GASPI
  use GASPI_Ext
  use reduction
  implicit none
  integer(gaspi_timeout_t), parameter :: timeout = 20000
  integer(gaspi_segment_id_t), parameter :: segment = 0
  integer(gaspi_queue_id_t), parameter :: queue = 0
  integer(gaspi_rank_t) :: me, all, right
  integer(c_long), pointer :: words(:)
  type(c_ptr) :: at

  call configure
  call check(gaspi_proc_init(timeout), "gaspi_proc_init")
  call check(gaspi_proc_rank(me), "gaspi_proc_rank")
  call check(gaspi_proc_num(all), "gaspi_proc_num")
  right = int(mod(me + 1, int(all)), gaspi_rank_t)
  call check(gaspi_segment_create(segment, 4096_gaspi_size_t, GASPI_GROUP_ALL, timeout, GASPI_MEM_INITIALIZED), &
             "gaspi_segment_create")
  call check(gaspi_segment_ptr(segment, at), "gaspi_segment_ptr")
  call c_f_pointer(at, words, [512])
  call go_round
  call reduce
  call write_a_list
  call refuse
  call check(gaspi_barrier(GASPI_GROUP_ALL, timeout), "gaspi_barrier")
  call check(gaspi_proc_term(timeout), "gaspi_proc_term")

contains

  subroutine check(code, what)
    integer(gaspi_return_t), intent(in) :: code
    character(*), intent(in) :: what
    if (code == GASPI_SUCCESS) return
    print *, what, " gives ", code
    stop 1
  end subroutine check

  subroutine holds(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    print *, "rank ", me, ": not ", what
    stop 1
  end subroutine holds

  ! All members lie where C has them: those at the end, too.
  subroutine configure
    type(gaspi_config_t) :: c, kept
    integer(gaspi_number_t) :: n
    call check(gaspi_config_get(c), "gaspi_config_get")
    call holds(c%notification_num == 65536 .and. c%rw_list_elem_max == 255 .and. c%sn_timeout == 30000, "the defaults")
    c%notification_num = 100
    c%dev_config%params%ofi%progress_auto = 77
    call check(gaspi_config_set(c), "gaspi_config_set")
    call check(gaspi_config_get(kept), "gaspi_config_get")
    call holds(kept%dev_config%params%ofi%progress_auto == 77, "what was set")
    call check(gaspi_notification_num(n), "gaspi_notification_num")
    call holds(n == 100, "what was configured")
  end subroutine configure

  subroutine receive
    integer(gaspi_notification_id_t) :: first
    integer(gaspi_notification_t) :: value
    call check(gaspi_notify_waitsome(segment, 0, 1, first, timeout), "gaspi_notify_waitsome")
    call check(gaspi_notify_reset(segment, first, value), "gaspi_notify_reset")
    call holds(first == 0 .and. value == 5, "the notification")
  end subroutine receive

  subroutine go_round
    if (me /= 0) call receive
    words(1) = words(2) + me + 1
    call check(gaspi_write_notify(segment, 0_gaspi_offset_t, right, segment, 8_gaspi_offset_t, 8_gaspi_size_t, &
                                  0, 5, queue, timeout), "gaspi_write_notify")
    if (me == 0) call receive
    if (me == 0) call holds(words(2) == all * (all + 1) / 2, "the sum of the ring")
    call check(gaspi_wait(queue, GASPI_BLOCK), "gaspi_wait")
  end subroutine go_round

  subroutine reduce
    real(c_double), target :: mine(2), total(2)
    integer(c_int), target :: number(1), most(1), calls
    mine = [real(me, c_double), 0.5d0]
    call check(gaspi_allreduce(c_loc(mine), c_loc(total), 2, GASPI_OP_SUM, GASPI_TYPE_DOUBLE, GASPI_GROUP_ALL, &
                               timeout), "gaspi_allreduce")
    call holds(total(1) == all * (all - 1) / 2 .and. total(2) == 0.5d0 * all, "the sums")
    number = 10 + me
    calls = 0
    call check(gaspi_allreduce_user(c_loc(number), c_loc(most), 1, 4_gaspi_size_t, c_funloc(longest), c_loc(calls), &
                                    GASPI_GROUP_ALL, timeout), "gaspi_allreduce_user")
    call holds(most(1) == 9 + all, "the most")
  end subroutine reduce

  subroutine write_a_list
    integer(gaspi_segment_id_t), target :: here(2), there(2)
    integer(gaspi_offset_t), target :: from(2), to(2)
    integer(gaspi_size_t), target :: bytes(2)
    integer(gaspi_rank_t), target :: ranks(3)
    here = segment
    there = segment
    from = [800, 808]
    to = [1600, 2400]
    bytes = 8
    words(101:102) = [me + 50, me + 60]
    call check(gaspi_write_list(2, c_loc(here), c_loc(from), right, c_loc(there), c_loc(to), c_loc(bytes), queue, &
                                timeout), "gaspi_write_list")
    call check(gaspi_wait(queue, timeout), "gaspi_wait")
    call check(gaspi_barrier(GASPI_GROUP_ALL, timeout), "gaspi_barrier")
    call holds(words(201) == 50 + mod(me + all - 1, int(all)) .and. words(301) == words(201) + 10, "the list")
    call check(gaspi_group_ranks(GASPI_GROUP_ALL, c_loc(ranks)), "gaspi_group_ranks")
    call holds(ranks(1) == 0 .and. ranks(3) == 2, "the ranks")
  end subroutine write_a_list

  ! An error, and its text.
  subroutine refuse
    character(kind=c_char), pointer :: text(:)
    type(c_ptr) :: message
    call holds(gaspi_notify(segment, right, 100, 1, queue, timeout) == GASPI_ERR_INV_NOTIF_ID, "a refused notification")
    call check(gaspi_print_error(GASPI_ERR_INV_NOTIF_ID, message), "gaspi_print_error")
    call c_f_pointer(message, text, [15])
    call holds(all_of(text) == "notification_id", "the text of the error")
  end subroutine refuse

  function all_of(text) result(word)
    character(kind=c_char), intent(in) :: text(15)
    character(15) :: word
    integer :: i
    do i = 1, 15
      word(i:i) = text(i)
    end do
  end function all_of
end program ring
