  // SPDX-License-Identifier: Apache-2.0
  // Any get, by its node and place there: reported refused at its end exactly if one of its packets was refused,
  // whatever other gets do; and never because of another get.
  (* anyconst *) logic [9:0] f_get;
  wire [9:0]  f_of    = {hdr_i.src[5:0], hdr_i.place};
  wire [15:0] f_from  = {hdr_i.svpid, hdr_i.epoch};
  wire        f_mine  = take_i && f_of == f_get;
  wire        f_first = hdr_i.flags[rma_pkg::RMA_FIRST];
  logic        f_begun, f_bad;      // its first packet has come; one was refused
  logic [15:0] f_owner;
  logic        f_over, f_expected;  // the packet taken last was its end, or pretends to be

  // A target sends the packets of one get in a place at a time.
  always_comb if (f_mine && data_i && !f_first) assume (f_begun && f_from == f_owner);

  // The RAM, by its own proof.
  logic [16:0] f_word, f_read;
  logic        f_looked;
  always_comb if (f_looked) assume ({refused, owner} == f_read);

  always_ff @(posedge clk_i) begin
    if (we && key == f_get) f_word <= word;
    if (take_i) begin
      f_looked   <= key == f_get;
      f_read     <= f_word;
      f_over     <= f_mine && !data_i && f_begun;
      f_expected <= f_bad && f_from == f_owner;
    end
    if (f_mine && data_i) begin
      f_begun <= 1'b1;
      f_bad   <= !good_i || (f_bad && !f_first);
      f_owner <= f_from;
    end
    if (f_init) {f_looked, f_over, f_begun} <= '0;
  end

  always_comb begin
    if (!f_init) begin
      if (f_over) assert (refused_o == f_expected);
      // why
      if (f_begun) assert (f_word == {f_bad, f_owner});
      if (f_over) assert (f_looked && f_expected == (f_read[16] && f_read[15:0] == owner_q));
    end
  end
