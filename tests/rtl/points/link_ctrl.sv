// SPDX-License-Identifier: Apache-2.0
// What a link's CTRL flits are sent for.
module link_ctrl_points (
    input wire logic clk_i, rst_ni,
    input wire logic sent_i, sent_run, urgent_o, reported_o, hello_q, polled_i, valid_o, packet_flit_i, up_i,
    input wire link_pkg::link_ctrl_t sent, next,
    input wire logic [ggas_pkg::CHANNELS-1:0] stale
);
  `POINT(hello, sent_i && sent.hello);
  `POINT(hello_that_was_out_of_date, sent_i && sent.hello && !reported_o);
  `POINT(acknowledgement_alone, sent_run && !sent.nak && !sent.poll && stale == '0);
  `POINT(nak, sent_run && sent.nak);
  `POINT(asks_for_credits, sent_run && sent.poll);
  `POINT(is_asked_for_credits, polled_i);
  `POINT(credits_of_two_channels, (stale & (stale - 1'b1)) != '0);
  `POINT(urgent_under_load, sent_run && urgent_o && !sent.nak);
  `POINT(out_of_date_as_it_leaves, sent_run && sent.ack_seq != next.ack_seq);
  `POINT(waits_while_packets_pass, valid_o && packet_flit_i);
endmodule
bind link_ctrl link_ctrl_points i_points (.*);
