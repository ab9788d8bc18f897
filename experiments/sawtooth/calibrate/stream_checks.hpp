// What must be true of stream counters on any GPU, whatever its L2: the counters check themselves.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "experiments/sawtooth/calibrate/stream_row.hpp"

namespace sawtooth::experiments {

struct CheckLine {
  std::string name;
  bool passed = false;
  std::string detail;  // the figures, the worst point and the tolerance
};

/// Every check, or the one called `name`; one that saw no row has not passed.
///  cold: a first read from a cold L2 takes every sector from DRAM once: DRAM / sectors = 1 +-
///  0.005
///    in every replay pass; for buffers of at most 2/15 of L2 the median of the passes and
///    repetitions, as other units read 400 to 2200 sectors meanwhile (code, page tables).
///  hot: a buffer of at most 2/15 of L2 (8 MiB of 60) read again from the same SM takes nothing
///  from
///    DRAM: under 0.001 of its sectors.
///  identity: DRAM reads = near misses - fabric reads + fabric misses (without a fabric: = misses),
///    within 1 % of the DRAM reads where they are above 5 % of the buffer, else of the buffer. The
///    terms come from different replay passes; on the cliff twice the DRAM sectors by which these
///    passes differ are allowed on top.
///  sm-sectors: sectors that SMs received = what the kernels asked for, and at most 512 sectors of
///    their own: launch parameters and ranks, 264 on 132 SMs.
///  repeats: DRAM reads of repetitions and of replay passes differ by at most 0.01 of the buffer's
///    sectors, on the cliff by 0.06. Of 10 or more readings of a point the lowest and the highest
///    tenth do not count: other work on the GPU disturbs one now and then.
///  fills: fills from device memory = DRAM reads of the same replay pass, by two independent units,
///    with the identity's 1 %; not where fills stand for DRAM reads.
std::vector<CheckLine> check_streams(const std::vector<StreamRow>& rows, int64_t l2_bytes,
                                     std::string_view name = {});

/// "PASS name: detail" or "FAIL ...", a line each.
std::string checks_text(const std::vector<CheckLine>& checks);
bool all_passed(const std::vector<CheckLine>& checks);

}  // namespace sawtooth::experiments
