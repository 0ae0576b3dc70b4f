// SPDX-License-Identifier: Apache-2.0
// Function-level reset (docs/tlp-boundary.md). A TLP that has begun to leave is finished. Then everything after the
// pins is held in reset until the reads from before it are answered, so that no late completion matches a new read with
// its tag, or for 64 ms: longer than the default completion time-out of hosts (50 ms), and within the 100 ms that PCIe
// allows. Requests that the host sends meanwhile are accepted and dropped.
`default_nettype none

module hostif_reset (
  input  wire          clk_i,
  input  wire          rst_ni,         // of the board: this unit outlives the function's reset
  input  wire          tick_i,         // every 1024 cycles
  // verilator lint_off UNUSEDSIGNAL
  input  wire  [31:0]  clock_khz_i,    // clk_i; low bits do not matter
  // verilator lint_on UNUSEDSIGNAL

  input  wire          flr_i,          // reset is wanted
  output logic         flr_done_o,     // it is done; the NIC starts as flr_i falls
  output logic         closing_o,      // no TLP begins to leave
  input  wire          open_i,         // one that began has not ended
  output logic         rst_no,         // of everything after the pins
  input  wire          read_i,         // pulse: a read left

  // requests and completions of the host, as they come and as the units see them
  input  wire          req_valid_i,
  output logic         req_ready_o,
  input  wire          req_sop_i,
  input  wire          req_eop_i,
  output logic         req_valid_o,
  input  wire          req_ready_i,
  input  wire          cpl_valid_i,
  output logic         cpl_ready_o,
  input  wire          cpl_sop_i,
  input  wire          cpl_eop_i,
  // verilator lint_off UNUSEDSIGNAL
  input  ggas_pkg::tlp_hdr_t cpl_hdr_i,
  // verilator lint_on UNUSEDSIGNAL
  output logic         cpl_valid_o,
  input  wire          cpl_ready_i,

  output logic         busy_o,
  output logic         timer_o
);

  localparam logic [1:0] S_RUN = 2'd0, S_CLOSE = 2'd1, S_RESET = 2'd2, S_DONE = 2'd3;
  localparam int unsigned HOLD_W = 7;    // 128 cycles of reset at least: RAMs are cleared a row a cycle (flag_ram)

  logic [1:0]        state_q;
  logic [HOLD_W-1:0] hold_q;
  logic [27:0]       ticks_q;            // left to wait for reads: 64 ms are kHz / 16 ticks of 1024 cycles
  logic [9:0]        reads_q;            // reads without their last completion
  logic              reset_q;            // after the state, so that no logic drives the resets
  wire late     = ticks_q == '0;
  wire answered = reads_q == '0;
  wire ends     = &hold_q && (answered || late);

  assign closing_o  = state_q == S_CLOSE;
  assign flr_done_o = state_q == S_DONE;
  assign rst_no     = rst_ni && !reset_q;
  assign busy_o     = state_q == S_CLOSE || (state_q == S_RUN && flr_i) || (state_q == S_DONE && !flr_i)
    || (state_q == S_RESET && (ends || !(&hold_q)));
  assign timer_o    = state_q == S_RESET;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= S_RUN;
      reset_q <= 1'b0;
      hold_q  <= '0;
      ticks_q <= '0;
    end else begin
      case (state_q)
        S_RUN:   if (flr_i) state_q <= S_CLOSE;
        S_CLOSE: if (!open_i || late) state_q <= S_RESET;
        S_RESET: if (ends) state_q <= S_DONE;
        default: if (!flr_i) state_q <= S_RUN;
      endcase
      reset_q <= state_q == S_RESET || (state_q == S_DONE && flr_i);
      hold_q  <= state_q == S_RESET ? hold_q + {{(HOLD_W - 1){1'b0}}, !(&hold_q)} : '0;
      if (state_q == S_RUN) ticks_q <= clock_khz_i[31:4];
      else if (tick_i && !late) ticks_q <= ticks_q - 28'd1;
    end
  end

  // ---- reads on their way: they outlive the reset
  wire cpl_beat = cpl_valid_i && cpl_ready_o;
  wire last_cpl = cpl_beat && cpl_sop_i && !answered && (cpl_hdr_i.kind != ggas_pkg::TLP_CPLD
    || cpl_hdr_i.status != ggas_pkg::CPL_SC
    || cpl_hdr_i.byte_count <= {cpl_hdr_i.len_dw, 2'b00} - {11'd0, cpl_hdr_i.lower_addr[1:0]});
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) reads_q <= '0;
    else if (state_q == S_DONE) reads_q <= '0;
    else if (read_i != last_cpl) begin
      if (read_i && reads_q != '1) reads_q <= reads_q + 10'd1;
      else if (last_cpl) reads_q <= reads_q - 10'd1;
    end
  end

  // ---- what the host sends: dropped during the reset, and so is the rest of a TLP that began before its end
  wire       dropping = state_q[1];  // S_RESET, S_DONE
  wire [1:0] valid    = {cpl_valid_i, req_valid_i};
  wire [1:0] sop      = {cpl_sop_i, req_sop_i};
  wire [1:0] eop      = {cpl_eop_i, req_eop_i};
  wire [1:0] ready    = {cpl_ready_i, req_ready_i};
  logic [1:0] inside_q, rest_q;
  wire [1:0] drop     = {2{dropping}} | (rest_q & ~sop);
  wire [1:0] beat     = valid & (ready | drop);
  wire [1:0] halfway = (beat & ~eop) | (~beat & inside_q);
  assign {cpl_ready_o, req_ready_o} = ready | drop;
  assign {cpl_valid_o, req_valid_o} = valid & ~drop;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inside_q <= '0;
      rest_q   <= '0;
    end else begin
      inside_q <= halfway;
      rest_q   <= (rest_q | {2{dropping}}) & halfway;
    end
  end

endmodule

`default_nettype wire
