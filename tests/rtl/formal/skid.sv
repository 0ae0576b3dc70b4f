  // SPDX-License-Identifier: Apache-2.0
  // Nothing is lost, doubled or changed: any word, followed by its number.
  (* anyconst *) logic [3:0] f_at;
  logic [3:0] f_in, f_out;   // words in and out, modulo
  logic [WIDTH-1:0] f_word;
  wire f_take = in_valid_i && in_ready_o, f_give = out_valid_o && out_ready_i;
  always_ff @(posedge clk_i) begin
    f_in  <= f_init ? '0 : f_in + f_take;
    f_out <= f_init ? '0 : f_out + f_give;
    if (f_take && f_in == f_at) f_word <= in_data_i;
  end
  wire [3:0] f_held = f_in - f_out;
  logic [WIDTH-1:0] f_last;
  logic             f_stood;
  always_ff @(posedge clk_i) begin
    f_last  <= out_data_o;
    f_stood <= !f_init && out_valid_o && !out_ready_i;
  end
  always_comb begin
    if (!f_init) begin
      assert (f_held == out_valid_o + spare_q);
      assert (!spare_q || out_valid_o);
      if (out_valid_o && f_out == f_at) assert (out_data_o == f_word);
      if (spare_q && f_out + 4'd1 == f_at) assert (spare_data_q == f_word);
      if (f_stood) assert (out_valid_o && out_data_o == f_last);  // an offer stands
    end
  end
