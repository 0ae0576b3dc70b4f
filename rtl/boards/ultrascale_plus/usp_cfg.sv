// SPDX-License-Identifier: Apache-2.0
// Configuration space of the hard block as pins of the NIC, and the handshake of a function-level reset.
`default_nettype none

module usp_cfg (
    input  wire logic        clk_i,
    input  wire logic        rst_ni,

    /// cfg_max_payload: 128 bytes << value.
    input  wire logic [1:0]  max_payload_i,
    /// cfg_max_read_req: 128 bytes << value.
    input  wire logic [2:0]  max_read_req_i,
    /// cfg_function_status[3:0], of physical function 0.
    input  wire logic [3:0]  function_status_i,
    /// cfg_bus_number.
    input  wire logic [7:0]  bus_number_i,
    /// cfg_interrupt_msix_enable[0] and cfg_interrupt_msix_mask[0].
    input  wire logic        msix_enable_i,
    input  wire logic        msix_mask_i,
    /// cfg_flr_in_process[0]: high until a pulse of cfg_flr_done[0].
    input  wire logic        flr_in_process_i,
    output      logic        flr_done_o,

    /// Pins cfg_* of the NIC.
    output      ggas_pkg::host_config_t nic_o,
    /// cfg_flr_i and flr_done_o of the NIC.
    output      logic        nic_flr_o,
    input  wire logic        nic_flr_done_i
);
  localparam logic [2:0] S_RUN = 3'd0, S_RESET = 3'd1, S_START = 3'd2, S_DONE = 3'd3, S_WAIT = 3'd4;
  logic [2:0] state_q;
  assign nic_flr_o  = state_q == S_RESET;
  assign flr_done_o = state_q == S_DONE;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) state_q <= S_RUN;
    else begin
      case (state_q)
        S_RUN:   if (flr_in_process_i) state_q <= S_RESET;
        S_RESET: if (nic_flr_done_i) state_q <= S_START;
        S_START: if (!nic_flr_done_i) state_q <= S_DONE;  // the NIC works again: now the host may come back
        S_DONE:  state_q <= S_WAIT;                       // a pulse
        default: if (!flr_in_process_i) state_q <= S_RUN;
      endcase
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      nic_o      <= '0;
      nic_o.mps  <= 13'd128;
      nic_o.mrrs <= 13'd512;
    end else begin
      nic_o.mps         <= 13'd128 << max_payload_i;
      nic_o.mrrs        <= max_read_req_i > 3'd5 ? 13'd128 : 13'd128 << max_read_req_i;  // 6 and 7 are reserved
      nic_o.bus_id      <= {bus_number_i, 8'd0};
      nic_o.msix_enable <= msix_enable_i;
      nic_o.msix_mask   <= msix_mask_i;
      nic_o.bus_master  <= function_status_i[2];
    end
  end

  wire unused = ^{function_status_i[3], function_status_i[1:0]};
endmodule

`default_nettype wire
