// What must be true of stream counters on any GPU, whatever its L2: the counters check themselves.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "experiments/sawtooth/calibrate/stream_row.hpp"

namespace sawtooth::experiments {

struct CheckLine {
  std::string name;
  bool passed = false;
  std::string detail;  // the figures, the worst point and the tolerance
};

/// A first read from a cold L2 takes every sector from DRAM once: DRAM / sectors = 1 +- 0.005 in
/// every replay pass; for buffers of at most 2/15 of L2 the median of the passes and repetitions.
CheckLine check_cold_is_compulsory(const std::vector<StreamRow>& rows, int64_t l2_bytes);

/// A buffer of at most 2/15 of L2 (8 MiB of 60) read again from the same SM takes nothing from
/// DRAM: under 0.001 of its sectors.
CheckLine check_hot_is_free(const std::vector<StreamRow>& rows, int64_t l2_bytes);

/// DRAM reads = near misses - fabric reads + fabric misses (without a fabric: = misses), within 1 %
/// of the DRAM reads where they are above 5 % of the buffer, else of the buffer. The terms come
/// from different replay passes; on the cliff (0.45 to 0.81 of L2) the DRAM sectors by which these
/// passes differ are allowed on top.
CheckLine check_dram_identity(const std::vector<StreamRow>& rows, int64_t l2_bytes);

/// Fills from device memory = DRAM reads of the same replay pass, by two independent units, with
/// the same 1 %.
CheckLine check_fills(const std::vector<StreamRow>& rows);

/// SM-side sectors = what the kernels asked for, and at most 512 sectors of their own.
CheckLine check_sm_sectors(const std::vector<StreamRow>& rows);

/// DRAM reads of repetitions and of replay passes differ by at most 0.01 of the buffer's sectors;
/// on the cliff (from 0.45 to 0.81 of L2) by 0.06. Of 10 or more readings of a point the lowest and
/// the highest tenth do not count: other work on the GPU disturbs one now and then.
CheckLine check_repeats(const std::vector<StreamRow>& rows, int64_t l2_bytes);

std::vector<CheckLine> check_streams(const std::vector<StreamRow>& rows, int64_t l2_bytes);

/// "PASS name: detail" or "FAIL ...", a line each. True when all passed.
bool print_checks(std::ostream& out, const std::vector<CheckLine>& checks);

}  // namespace sawtooth::experiments
