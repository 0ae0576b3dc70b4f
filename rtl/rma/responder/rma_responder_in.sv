// SPDX-License-Identifier: Apache-2.0
// A GET packet as one record: header fields and the six payload DW.
`default_nettype none

module rma_responder_in #(
    parameter int unsigned DATA_W = 64  // 64, 256 or 512
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,

    // whole GET packets of 6 DW
    input  wire ggas_pkg::rma_beat_t get_i,
    output      logic                get_ready_o,
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [DATA_W-1:0]   get_data_i,
    // verilator lint_on UNUSEDSIGNAL

    output      logic                valid_o,
    input  wire logic                ready_i,
    output      ggas_pkg::rma_hdr_t  hdr_o,
    output      logic [63:0]         dst_o,      // where the data goes, at the initiator
    output      logic [63:0]         cookie_o,
    output      logic [31:0]         size_o      // bytes, as the packet says
);
  assign get_ready_o = !valid_o || ready_i;
  wire beat = get_i.valid && get_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) valid_o <= 1'b0;
    else if (beat) valid_o <= get_i.eop;
    else if (ready_i) valid_o <= 1'b0;
  end
  always_ff @(posedge clk_i) if (beat && get_i.sop) hdr_o <= get_i.hdr;

  if (DATA_W == 64) begin : gen_narrow
    logic second_q;  // the beat after the first one
    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) second_q <= 1'b0;
      else if (beat) second_q <= get_i.sop;
    end
    always_ff @(posedge clk_i) begin
      if (beat) begin
        if (get_i.sop) dst_o <= get_data_i;
        else if (second_q) cookie_o <= get_data_i;
        else size_o <= get_data_i[31:0];
      end
    end
  end else begin : gen_wide
    always_ff @(posedge clk_i) if (beat) {size_o, cookie_o, dst_o} <= get_data_i[159:0];
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (rst_ni && beat && get_i.sop) assert (get_i.hdr.op == ggas_pkg::OP_RMA_GET
    && get_i.hdr.len_dw == 11'd6);
`endif
endmodule

`default_nettype wire
