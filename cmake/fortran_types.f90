! SPDX-License-Identifier: Apache-2.0
  ! gaspi_dev_config_t and gaspi_config_t of GASPI.h, member by member.
  type, bind(C) :: gaspi_dev_params_ib_t
    integer(c_int) :: netdev_id, mtu, port_check
  end type
  type, bind(C) :: gaspi_dev_params_tcp_t
    integer(c_int) :: port
  end type
  type, bind(C) :: gaspi_dev_params_ofi_t
    integer(c_int) :: use_shm, provider_info, progress_auto
  end type
  type, bind(C) :: gaspi_dev_params_t
    type(gaspi_dev_params_ib_t) :: ib
    type(gaspi_dev_params_tcp_t) :: tcp
    type(gaspi_dev_params_ofi_t) :: ofi
  end type
  type, bind(C) :: gaspi_dev_config_t
    integer(gaspi_network_t) :: network_type
    type(gaspi_dev_params_t) :: params
  end type
  type, bind(C) :: gaspi_config_t
    integer(gaspi_number_t) :: group_max, segment_max, queue_num, queue_size_max
    integer(gaspi_size_t) :: transfer_size_max
    integer(gaspi_number_t) :: notification_num, passive_queue_size_max
    integer(gaspi_size_t) :: passive_transfer_size_max, allreduce_buf_size
    integer(gaspi_number_t) :: allreduce_elem_max, rw_list_elem_max
    integer(gaspi_network_t) :: network
    integer(gaspi_number_t) :: build_infrastructure
    type(c_ptr) :: user_defined
    integer(c_int) :: logger, sn_port, net_info, user_net, sn_persistent
    integer(gaspi_timeout_t) :: sn_timeout
    type(gaspi_dev_config_t) :: dev_config
  end type
