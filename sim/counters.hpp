// What a model of L2 counts, in sectors of 32 bytes, with the meaning of NVIDIA's counters.
// An empty value means that the model has no such counter; it is never 0 for "unknown".
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace sawtooth::sim {

using Sectors = std::optional<int64_t>;

/// The counters of scheduler/counters.inc that are predicted, a member each.
struct Counters {
#define COUNTER(name, column, ...) Sectors column;
#define PREDICTED_COUNTER(column, ...) Sectors column;
#include "scheduler/counters.inc"
};

/// Every one with its column name in results.csv, in the order of the columns.
struct CounterColumn {
  std::string_view name;
  Sectors Counters::*member;
};
inline constexpr auto counter_columns = std::to_array<CounterColumn>({
#define COUNTER(name, column, ...) {#column, &Counters::column},
#define PREDICTED_COUNTER(column, ...) {#column, &Counters::column},
#include "scheduler/counters.inc"
});

/// Adds counter by counter; a counter is known in the sum when it is known in either.
inline void add(Counters& sum, const Counters& part) {
  for (const CounterColumn& column : counter_columns) {
    if (!(part.*column.member)) continue;
    sum.*column.member = (sum.*column.member).value_or(0) + *(part.*column.member);
  }
}

/// Sectors of one tensor as a model counts them while it replays, whole or in parts. What is not
/// known stays out of its counters.
struct Tally {
  bool reads = false;        // dram_reads are known
  bool writes = false;       // write_misses are
  bool fabric = false;       // fabric_reads and fabric_misses are
  bool write_backs = false;  // written_back is
  bool reductions = false;   // reduced is
  bool linked = false;       // incoming and outgoing are
  double received = 0;       // by SMs
  double passed = 0;         // of these and of prefetches, what the coalescer lets through
  double cold = 0;
  double dram_reads = 0;     // reads that missed at their home
  double prefetched = 0;     // of these, by prefetches: no miss that hardware counts
  double fabric_reads = 0;   // and in the near half, where the home is the far one
  double fabric_misses = 0;  // of these, missed there too
  double written = 0;
  double write_misses = 0;
  double written_back = 0;
  double reduced = 0;     // as hardware counts them
  double fill_reads = 0;  // by reductions that missed
  double incoming = 0;    // by copies from other GPUs
  double outgoing = 0;    // by copies to other GPUs
  double sent_misses = 0;

  /// What has been counted since this tally was `before`.
  Tally since(const Tally& before) const {
    Tally part = *this;
    for (double Tally::*count :
         {&Tally::received, &Tally::passed, &Tally::cold, &Tally::dram_reads, &Tally::prefetched,
          &Tally::fabric_reads, &Tally::fabric_misses, &Tally::written, &Tally::write_misses,
          &Tally::written_back, &Tally::reduced, &Tally::fill_reads, &Tally::incoming,
          &Tally::outgoing, &Tally::sent_misses})
      part.*count -= before.*count;
    return part;
  }

  Counters counters() const {
    const auto whole = [](double sectors) { return std::llround(sectors); };
    Counters counters;
    counters.sm_read_sectors = whole(received);
    counters.l2_read_sectors = whole(passed);
    counters.l2_write_sectors = whole(written);
    counters.cold_read_sectors = whole(cold);
    if (reads) {
      counters.dram_read_sectors = whole(dram_reads) + whole(fill_reads) + whole(sent_misses);
      counters.l2_read_miss_sectors = whole(dram_reads - prefetched - fabric_misses + fabric_reads);
    }
    if (reads && fabric) {
      counters.fabric_read_sectors = whole(fabric_reads);
      // Rounded with the others: the identity of the halves holds of whole sectors too.
      counters.fabric_read_miss_sectors =
          whole(dram_reads - prefetched) + whole(fabric_reads) - *counters.l2_read_miss_sectors;
    }
    if (writes) counters.l2_write_miss_sectors = whole(write_misses);
    if (reductions) counters.l2_reduction_sectors = whole(reduced);
    if (write_backs) counters.dram_write_sectors = whole(written_back);
    if (linked) {
      counters.incoming_write_sectors = whole(incoming);
      counters.outgoing_read_sectors = whole(outgoing);
    }
    return counters;
  }
};

/// As hardware counts them where tiles come in bulk (TMA): a fabric miss then counts half (measured
/// on an H200 with kernels/hopper and mma-tma, docs/models/halves.md). `misses` are those of the
/// tensors before, and then of this one too, so that the sum of all is rounded once.
inline void count_in_bulk(Counters& counters, int64_t& misses) {
  if (!counters.fabric_read_miss_sectors) return;
  const int64_t before = std::exchange(misses, misses + *counters.fabric_read_miss_sectors);
  counters.fabric_read_miss_sectors = (misses + 1) / 2 - (before + 1) / 2;
}

}  // namespace sawtooth::sim
