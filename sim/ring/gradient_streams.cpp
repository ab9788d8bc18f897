#include <initializer_list>

#include "scheduler/memory_units.hpp"
#include "sim/ring/simulate_ring.hpp"

namespace sawtooth::sim {
namespace {

/// Reads, or adds to: such sectors are compulsory there.
constexpr bool is_read_by_main(Tensor tensor) {
  return tensor == Tensor::d_o || tensor == Tensor::lse || tensor == Tensor::dq_sum;
}

class Streams {
 public:
  void read(Tensor tensor, int64_t bytes) {
    count(tensor, bytes,
          {&Counters::sm_read_sectors, &Counters::l2_read_sectors, &Counters::l2_read_miss_sectors,
           &Counters::dram_read_sectors});
    if (!is_read_by_main(tensor)) count(tensor, bytes, {&Counters::cold_read_sectors});
  }
  void write(Tensor tensor, int64_t bytes) {
    count(tensor, bytes,
          {&Counters::l2_write_sectors, &Counters::l2_write_miss_sectors,
           &Counters::dram_write_sectors});
  }
  void come(Tensor tensor, int64_t bytes) {
    count(tensor, bytes, {&Counters::incoming_write_sectors, &Counters::dram_write_sectors});
  }
  void go(Tensor tensor, int64_t bytes) {
    count(tensor, bytes, {&Counters::outgoing_read_sectors, &Counters::dram_read_sectors});
  }
  /// A part of `bytes` of the element type to its sum in float.
  void add(Tensor part, Tensor sums, int64_t bytes, int64_t element, bool begins, bool finishes) {
    read(part, bytes);
    if (!begins) read(sums, bytes / element * float_bytes);
    write(sums, bytes / element * float_bytes);
    if (finishes) write(part, bytes);
  }

  std::array<Counters, tensor_count> by_tensor;

 private:
  void count(Tensor tensor, int64_t bytes, std::initializer_list<Sectors Counters::*> counters) {
    Counters& of = by_tensor[static_cast<size_t>(tensor)];
    for (Sectors Counters::*counter : counters)
      of.*counter = (of.*counter).value_or(0) + bytes / sector_bytes;
  }
};

int64_t bytes_of(const RingRequest& ring, const RingReturn& part) {
  const Problem& problem = ring.request.problem;
  return problem.batch * problem.kv_heads * part.kv_rows.size() * problem.row_bytes();
}

void add_returned(const RingRequest& ring, int64_t rank, int64_t step, Streams& streams) {
  RingReturn part;
  if (!ring.ring.return_of(rank, step, part)) return;
  for (const Tensor tensor : {Tensor::dk, Tensor::dv})
    streams.add(tensor, tensor, bytes_of(ring, part), element_bytes(ring.request.problem.dtype),
                part.begins, part.finishes);
}

/// Parts that other ranks computed in `step` and this one sent back to them.
void cross_link(const RingRequest& ring, int64_t rank, int64_t step, Streams& streams) {
  const int64_t came = returned_bytes(ring, rank, step);
  const int64_t went = step == 0 ? 0 : returned_bytes(ring, ring.ring.source(rank, step), step);
  for (const Tensor tensor : {Tensor::dk, Tensor::dv}) {
    streams.come(tensor, came);
    streams.go(tensor, went);
  }
}

}  // namespace

int64_t returned_bytes(const RingRequest& ring, int64_t rank, int64_t step) {
  RingReturn part;
  return step == 0 || !ring.ring.return_of(rank, step, part) ? 0 : bytes_of(ring, part);
}

int64_t added_bytes(const RingRequest& ring, int64_t rank, int64_t step) {
  Streams streams;
  if (step > 0) add_returned(ring, rank, step, streams);
  return streamed_bytes(streams.by_tensor);
}

std::array<Counters, tensor_count> gradient_streams(const RingRequest& ring, int64_t rank,
                                                    int64_t step) {
  Streams streams;
  const Problem& problem = ring.request.problem;
  const int64_t element = element_bytes(problem.dtype);
  const bool is_last = step + 1 == ring.ring.ranks;
  RingCall call;
  if (ring.ring.call_of(rank, step, call)) {
    const int64_t rows = problem.batch * problem.heads * call.q_rows.size();
    const int64_t bytes = rows * problem.row_bytes(), float_row = problem.head_dim * float_bytes;
    streams.read(Tensor::o, bytes);
    streams.read(Tensor::d_o, bytes);
    streams.read(Tensor::lse, rows * float_bytes);
    streams.write(Tensor::lse, rows * float_bytes);
    streams.write(Tensor::row_sum, rows * float_bytes);
    streams.write(Tensor::dq_sum, rows * float_row);
    streams.read(Tensor::dq_sum, rows * float_row);
    streams.write(Tensor::dq, bytes);
    if (ring.ring.ranks > 1)
      streams.add(Tensor::dq, Tensor::running_o, bytes, element, call.begins, call.finishes);
  }
  if (ring.ring.ranks == 1) return streams.by_tensor;
  if (step == 0) add_returned(ring, rank, 0, streams);
  if (step > 1) add_returned(ring, rank, step - 1, streams);
  if (step > 1) cross_link(ring, rank, step - 1, streams);
  if (is_last) {
    add_returned(ring, rank, step, streams);
    cross_link(ring, rank, step, streams);
  }
  const int64_t kv_bytes = ring.ring.moves_beside(step).size() * problem.batch * problem.kv_heads *
                           ring.ring.rank_rows() * problem.row_bytes();
  for (const Tensor tensor : {Tensor::k, Tensor::v}) {
    streams.come(tensor, kv_bytes);
    streams.go(tensor, kv_bytes);
  }
  return streams.by_tensor;
}

int64_t streamed_bytes(const std::array<Counters, tensor_count>& streams) {
  int64_t sectors = 0;
  for (const Counters& counters : streams)
    sectors += counters.sm_read_sectors.value_or(0) + counters.l2_write_sectors.value_or(0);
  return sectors * sector_bytes;
}

}  // namespace sawtooth::sim
