// SPDX-License-Identifier: Apache-2.0
// RMA packets at their target, by kind and result.
module rma_target_head_points (
    input wire logic clk_i, rst_ni,
    input wire logic valid_o, decided_o, take_i, sane_q, on_q, wants_o, unused_kept, tr_ready_i,
    input wire rma_pkg::tr_req_t tr_o,
    input wire rma_pkg::tr_rsp_t tr_rsp_i,
    input wire logic [2:0] kind_o,
    input wire logic [3:0] status_o
);
  `POINT(put_served, take_i && kind_o == rma_target_pkg::K_PUT && status_o == ggas_pkg::ST_OK);
  `POINT(put_bad, take_i && kind_o == rma_target_pkg::K_PUT && !sane_q);
  `POINT(put_switched_off, take_i && kind_o == rma_target_pkg::K_PUT && sane_q && !on_q);
  `POINT(notify_served, take_i && kind_o == rma_target_pkg::K_NOTIFY && status_o == ggas_pkg::ST_OK);
  `POINT(notify_bad, take_i && kind_o == rma_target_pkg::K_NOTIFY && !sane_q);
  `POINT(notify_switched_off, take_i && kind_o == rma_target_pkg::K_NOTIFY && sane_q && !on_q);
  `POINT(get_served, take_i && kind_o == rma_target_pkg::K_GET && status_o == ggas_pkg::ST_OK);
  `POINT(get_bad, take_i && kind_o == rma_target_pkg::K_GET && !sane_q);
  `POINT(get_switched_off, take_i && kind_o == rma_target_pkg::K_GET && sane_q && !on_q);
  `POINT(atomic_served, take_i && kind_o == rma_target_pkg::K_ATOMIC && status_o == ggas_pkg::ST_OK);
  `POINT(atomic_bad, take_i && kind_o == rma_target_pkg::K_ATOMIC && !sane_q);
  `POINT(atomic_switched_off, take_i && kind_o == rma_target_pkg::K_ATOMIC && sane_q && !on_q);
  `POINT(velo_served, take_i && kind_o == rma_target_pkg::K_VELO && status_o == ggas_pkg::ST_OK);
  `POINT(velo_bad, take_i && kind_o == rma_target_pkg::K_VELO && !sane_q);
  `POINT(velo_switched_off, take_i && kind_o == rma_target_pkg::K_VELO && sane_q && !on_q);
  `POINT(of_no_kind, take_i && kind_o == rma_target_pkg::K_NONE);
  `POINT(no_translation, take_i && status_o == ggas_pkg::ST_PROTECTION);
  `POINT(translated_while_it_waits, unused_kept && !take_i);
  `POINT(translated_just_in_time, take_i && wants_o && tr_rsp_i.valid);
  `POINT(translation_waits, tr_o.valid && !tr_ready_i);
endmodule
bind rma_target_head rma_target_head_points i_points (.*);
