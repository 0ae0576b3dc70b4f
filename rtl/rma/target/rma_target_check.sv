// SPDX-License-Identifier: Apache-2.0
// Decodes a request packet and checks its header. Nothing here is trusted: any node may have sent anything.
`default_nettype none

module rma_target_check (
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::rma_hdr_t  hdr_i,
    // verilator lint_on UNUSEDSIGNAL
    output      logic [2:0]          kind_o,  // rma_target_pkg::K_*
    output      logic                sane_o
);

  wire [10:0] page_dw = {1'b0, hdr_i.addr[11:2]} + hdr_i.len_dw;
  wire        put_ok  = hdr_i.len_dw != '0 && hdr_i.len_dw <= 11'd64 && page_dw <= 11'd1024
                        && smfu_pkg::be_good(hdr_i.addr[2], hdr_i.len_dw, hdr_i.first_be, hdr_i.last_be);

  always_comb begin
    kind_o = rma_target_pkg::K_NONE;
    sane_o = 1'b0;
    if (ggas_pkg::is_node(hdr_i.src)) begin
      case (hdr_i.op)
        ggas_pkg::OP_RMA_PUT: begin
          kind_o = rma_target_pkg::K_PUT;
          sane_o = put_ok;
        end
        ggas_pkg::OP_RMA_NOTIFY: begin
          kind_o = rma_target_pkg::K_NOTIFY;
          sane_o = hdr_i.len_dw == 11'd4;
        end
        ggas_pkg::OP_RMA_GET: begin
          kind_o = rma_target_pkg::K_GET;
          sane_o = hdr_i.len_dw == 11'd6;
        end
        ggas_pkg::OP_RMA_ATOMIC: begin
          kind_o = rma_target_pkg::K_ATOMIC;
          sane_o = hdr_i.len_dw == 11'd10;
        end
        ggas_pkg::OP_VELO_MSG: begin
          kind_o = rma_target_pkg::K_VELO;
          sane_o = hdr_i.len_dw >= 11'd4 && hdr_i.len_dw <= 11'd20;
        end
        default: ;
      endcase
    end
  end

endmodule

`default_nettype wire
