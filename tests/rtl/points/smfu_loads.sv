// SPDX-License-Identifier: Apache-2.0
// Loads of the host on their way out.
module smfu_loads_points (
    input wire logic clk_i, rst_ni,
    input wire logic head, page, quiet, mapped, reach, served, refuse, reported_q, stuck_q, event_valid_o, busy_q, send,
    input wire logic alloc,
    input wire logic final_q, first_q, half_q, alloc_live_i, alloc_valid_o, alloc_ready_i, slot_free,
    input wire logic quiet_np_valid_i, quiet_valid_o, quiet_ready_i, refused_ready_i, tx_np_valid_o, tx_np_ready_i,
    input wire logic [2:0] asked, ask_rd_q,
    input wire logic [2:0] mark_q [4]
);
  `POINT(one_chunk, send && first_q && final_q);
  `POINT(chunk_in_the_middle, send && !first_q && !final_q);
  `POINT(chunks_of_128_bytes, send && !final_q && half_q);
  `POINT(next_load_without_a_pause, alloc && busy_q);
  `POINT(unmapped, refuse && !page && !mapped);
  `POINT(unreachable, refuse && mapped && !reach);
  `POINT(page_that_cannot_be_read, refuse && page);
  `POINT(refused_behind_a_stuck_load, refuse && mapped && reach && stuck_q);
  `POINT(quiet_read, quiet_valid_o && quiet_ready_i);
  `POINT(quiet_read_waits, quiet_valid_o && !quiet_ready_i);
  `POINT(quiet_packet_goes_first, quiet_np_valid_i && busy_q);
  `POINT(waits_for_the_stores_before, asked != '0 && mark_q[ask_rd_q[1:0]] != '0);
  `POINT(matching_store_full, alloc_valid_o && !alloc_ready_i);
  `POINT(ran_out_of_time_half_sent, busy_q && !alloc_live_i && !first_q);
  `POINT(ran_out_of_time_before_it_was_sent, busy_q && !alloc_live_i && first_q);
  `POINT(network_waits, tx_np_valid_o && !tx_np_ready_i);
  `POINT(event_before_waits, head && !quiet && !served && !reported_q && event_valid_o);
  `POINT(refusal_waits, reported_q && !refused_ready_i);
  `POINT(four_asked, asked == 3'd4);
endmodule
bind smfu_loads smfu_loads_points i_points (.*);
