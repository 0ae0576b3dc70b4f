// SPDX-License-Identifier: Apache-2.0
// Errors of stores and rounds of quiet, until they are reported.
//
// * An error of a user's store concerns the user's domain: it is reported to pages whose context is of that domain, and
//   to pages without a context. Any other error concerns all pages. So no user makes the quiets of others fail. Domains
//   that agree in their low bits share an entry.
// * Errors between two answers share an epoch, and the first of them is kept. A page's word is the epoch that was
//   reported to it last; a page whose context the build does not have uses the word of another one.
// * Words and epoch are not reset: they stay comparable, and without an error there is nothing to report.
`default_nettype none

module smfu_errors (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire ggas_pkg::context_write_t context_i,

    // errors; ST_OK: none
    input  wire logic [3:0]          all_i,         // of all
    input  wire logic [3:0]          one_i,         // of a domain
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [15:0]         one_domain_i,

    input  wire logic                start_i,       // what is found from now on is for this page
    input  wire logic [7:0]          page_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic                report_i,     // the page is reported; two cycles after the start at the earliest
    output      logic [3:0]          answer_o       // the page's, of what came until a cycle ago
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;
  localparam int unsigned EPOCH_W = 32;
  localparam int unsigned PLACE_W = 6;  // low bits of a domain
  localparam int unsigned PLACES  = 1 << PLACE_W;

  function automatic logic after(input logic [EPOCH_W-1:0] one, input logic [EPOCH_W-1:0] other);
    logic [EPOCH_W-1:0] behind;
    behind = one - other;
    after  = !behind[EPOCH_W-1] && behind != '0;
  endfunction

  // ---------------------------------------------------------------- the page
  logic [EPOCH_W-1:0] epoch_q, reported;
  logic [PLACE_W-1:0] place;        // of its context's domain
  logic               on, on_q;     // it has a context
  logic [CW-1:0]      page_q;
  logic               known_q;
  ram_1r1w #(.WIDTH(EPOCH_W), .DEPTH(ggas_pkg::CONTEXTS)) u_reported (
      .clk_i, .we_i(report_i && known_q), .waddr_i(page_q), .wdata_i(epoch_q), .re_i(start_i),
      .raddr_i(page_i[CW-1:0]), .rdata_o(reported));
  context_fields #(.WIDTH(PLACE_W)) u_place (
      .clk_i, .context_i, .fields_i(context_i.data[32+:PLACE_W]), .re_i(start_i), .vpid_i(page_i), .fields_o(place));
  context_flags u_on (.clk_i, .rst_ni, .context_i, .flags_i(context_i.data[0]), .vpid_i(page_i), .flags_o(on));
  always_ff @(posedge clk_i) begin
    if (start_i) begin
      page_q  <= page_i[CW-1:0];
      known_q <= ggas_pkg::is_context(page_i);
      on_q    <= on;
    end
  end

  // ---------------------------------------------------------------- state
  // The last error of any kind, the last one that concerns all pages, and the last one of each entry. Each is stored
  // with its epoch and a flag: whether it was ever reported.
  logic [EPOCH_W-1:0] any_epoch_q, all_epoch_q, place_epoch;
  logic [3:0]         any_q, all_q, place_status;
  logic               any_open_q, all_open_q;
  logic               set, open;    // the page's place holds one; no one was informed of the one at `at`
  logic [EPOCH_W+3:0] place_q [PLACES];
  wire  [PLACE_W-1:0] at       = one_domain_i[PLACE_W-1:0];
  wire                one      = one_i != ggas_pkg::ST_OK;
  wire                all      = all_i != ggas_pkg::ST_OK;
  wire                keep_any = (one || all) && (!any_open_q || report_i);
  wire                keep_all = all && (!all_open_q || report_i);
  wire                keep_one = one && (!open || (report_i && place == at));
  wire  [EPOCH_W-1:0] epoch    = epoch_q + 1'b1;
  wire                mine     = keep_one && at == place;
  assign {place_status, place_epoch} = place_q[place];

  flag_ram #(.DEPTH(PLACES)) u_set (
      .clk_i, .rst_ni, .we_i(keep_one), .waddr_i(at), .wdata_i(1'b1), .raddr_i(place), .rdata_o(set));
  flag_ram #(.DEPTH(PLACES), .WRITERS(2)) u_open (
      .clk_i, .rst_ni, .we_i({keep_one, report_i && on_q}), .waddr_i({at, place}), .wdata_i(2'b10), .raddr_i(at),
      .rdata_o(open));
  initial epoch_q = '0;
  always_ff @(posedge clk_i) begin
    if (keep_any || keep_all || keep_one) epoch_q <= epoch;
    if (keep_any) any_epoch_q <= epoch;
    if (keep_all) all_epoch_q <= epoch;
    if (keep_one) place_q[at] <= {one_i, epoch};
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      any_q      <= ggas_pkg::ST_OK;
      all_q      <= ggas_pkg::ST_OK;
      any_open_q <= 1'b0;
      all_open_q <= 1'b0;
    end else begin
      if (report_i && on_q) all_open_q <= 1'b0;
      if (report_i && !on_q) any_open_q <= 1'b0;
      if (keep_any) begin
        any_q      <= all ? all_i : one_i;
        any_open_q <= 1'b1;
      end
      if (keep_all) begin
        all_q      <= all_i;
        all_open_q <= 1'b1;
      end
    end
  end

  // ---------------------------------------------------------------- errors not yet reported to the page
  // There are none in the first cycle after the start.
  logic       any_news_q, all_news_q, one_news_q;
  logic [3:0] one_q;
  always_ff @(posedge clk_i) begin
    any_news_q <= keep_any || after(any_epoch_q, reported);
    all_news_q <= keep_all || (all_q != ggas_pkg::ST_OK && after(all_epoch_q, reported));
    one_news_q <= mine || (set && after(place_epoch, reported));
    one_q      <= mine ? one_i : place_status;
  end
  always_comb begin
    answer_o = ggas_pkg::ST_OK;
    if (!on_q) begin
      if (any_news_q) answer_o = any_q;
    end else if (all_news_q) answer_o = all_q;
    else if (one_news_q) answer_o = one_q;
  end
endmodule

`default_nettype wire
