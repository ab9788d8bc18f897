// What SMs read and write beside tiles: words of the scan `attach`, and zeros of the copy engine.
#pragma once

#include "sim/prediction.hpp"
#include "sim/request.hpp"

namespace sawtooth::sim {

/// Adds the sector that every step writes to the l2_write_sectors of `other` and of all tensors,
/// or with request.atomic_words those that SMs receive to their sm_read_sectors; nothing under
/// other scans, or with loop = kv-outer, which has no such words.
void add_attach_words(const Request& request, Prediction& prediction);

// Rows of a tile past its tensor's end, and columns of its last panel past the head dim. TMA fills
// them with zeros and counts the whole box as received by the SM, exactly: 279,552 sectors more
// where 364 items of 128 x 176 at D = 128 read 265 K/V tiles of 46,592 keys
// (experiments/data/h200/validation/development.csv); 8 sectors a row at D = 80, 96 and 112
// (hopper_dims.csv there). L2 is asked for no row past the end, and for some of the columns, which
// no model counts.

/// Adds them to sm_read_sectors of Q, K and V and of all tensors, where request.whole_tiles says
/// so; no rows for sequences of lengths of their own or packed groups, whose tiles end elsewhere.
void add_zeros_of_boxes(const Request& request, Prediction& prediction);

}  // namespace sawtooth::sim
