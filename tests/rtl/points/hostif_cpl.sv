// SPDX-License-Identifier: Apache-2.0
// Completions of the NIC's own reads, whole ones and others.
module hostif_cpl_points (
    input wire logic clk_i, rst_ni,
    input wire logic first, sop_bad, foreign, cut, stray, wrong_end, abort, full, with_data, no_data,
    input wire logic tgt_valid_o, tgt_ready_i, rma_valid_o, rma_ready_i, tgt_sop_o, bad_len,
    input wire ggas_pkg::tlp_beat_t rx_i
);
  wire good = first && !sop_bad && !foreign;
  `POINT(data, good && with_data && rx_i.hdr.status == ggas_pkg::CPL_SC);
  `POINT(part_of_an_answer, good && with_data && rx_i.hdr.byte_count > {rx_i.hdr.len_dw, 2'b00});
  `POINT(flush_answered, good && with_data && rx_i.hdr.byte_count <= 13'd1);
  `POINT(refused_by_the_host, good && no_data && rx_i.hdr.status != ggas_pkg::CPL_SC);
  `POINT(poisoned, good && rx_i.hdr.poisoned);
  `POINT(length_makes_no_sense, first && bad_len);
  `POINT(tag_that_nobody_uses, first && !sop_bad && foreign);
  `POINT(begins_inside_a_packet, cut);
  `POINT(goes_on_without_a_beginning, stray);
  `POINT(ends_too_late_or_early, wrong_end);
  `POINT(forgotten_half_way, abort);
  `POINT(to_smfu, tgt_valid_o && tgt_sop_o);
  `POINT(to_rma, rma_valid_o && tgt_sop_o);
  `POINT(smfu_waits, tgt_valid_o && !tgt_ready_i);
  `POINT(rma_waits, rma_valid_o && !rma_ready_i);
endmodule
bind hostif_cpl hostif_cpl_points i_points (.*);
