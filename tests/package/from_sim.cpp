// The installed simulator: linear against sawtooth on a cache of half of K and V. Prints what each
// reads beyond the compulsory sectors.
#include <cstdint>
#include <iostream>

#include <sim/lru/simulate_lru.hpp>

int main() {
  using namespace sawtooth;
  sim::Request request;
  request.problem.seq_q = request.problem.seq_kv = 8192;
  request.tiling = {64, 64};
  request.schedule.workers = 8;
  const auto head_bytes = request.problem.kv_head_bytes();
  request.l2_bytes = head_bytes / 2;

  // Q, K and V, once each, in sectors of 32 bytes; K and V together are head_bytes.
  const int64_t compulsory = (head_bytes / 2 * 3) / 32;
  int64_t missed[2];
  for (const ScanId scan : {scan_id<LinearScan>, scan_id<SawtoothScan>}) {
    request.schedule.scan = scan;
    const sim::Counters counters = sim::simulate_lru(request).total;
    if (counters.cold_read_sectors != compulsory) return 1;
    missed[scan == scan_id<SawtoothScan>] = *counters.l2_read_miss_sectors - compulsory;
  }
  std::cout << "beyond compulsory reads: linear " << missed[0] << ", sawtooth " << missed[1]
            << " sectors\n";
  return missed[1] < missed[0] ? 0 : 1;
}
