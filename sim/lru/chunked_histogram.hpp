// The histogram of one long replay on several threads, the same as on one.
//
// The replay is cut into chunks of visits. Every chunk is counted from an empty stack by any
// thread; what is cold in it is visited, in its order, on the stack that the chunks before it have
// left, and then all that it touched, in the order of its own stack, so that this one is as after
// the chunk (Niu, Dinan, Lu, Sadayappan, "PARDA: a fast parallel reuse distance analysis
// algorithm", IPDPS 2012, with one stack that goes from chunk to chunk; docs/models/exactness.md,
// F). Chunks are several times as long as there are atoms, which is what the second step costs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "sim/lru/distance_histogram.hpp"
#include "sim/lru/stack_distance.hpp"
#include "sim/schedule/live_atoms.hpp"
#include "sim/schedule/visit.hpp"

namespace sawtooth::sim {

/// How many visits a chunk has: so many, or more where there are many atoms.
struct ChunkLength {
  size_t least = size_t{1} << 20;
  size_t of_an_atom = 8;
};

class ChunkedHistogram {
 public:
  /// Counts on `threads` threads, the caller's among them.
  ChunkedHistogram(LiveAtoms& atoms, DistanceHistogram& histogram, int64_t threads,
                   ChunkLength length = {});

  void visit(const Visit& visit) {
    chunk_->visits.push_back(visit);
    if (chunk_->visits.size() >= chunk_visits_) hand_over();
  }
  /// Waits for all chunks. Throws what a thread has thrown.
  void flush();

  int64_t visits() const { return visits_; }

 private:
  using Sizes = std::vector<AtomSize>;
  struct Chunk {
    size_t number = 0;
    std::vector<Visit> visits;
    std::shared_ptr<const Sizes> sizes;  // of all atoms in them
    std::vector<AtomRange> ended;        // with the last visit
    std::vector<Visit> cold;             // first visits of the chunk, in their order
    std::vector<AtomId> recency;         // what was visited, the most recent first
    DistanceHistogram histogram;         // of the other visits
  };
  using ChunkPointer = std::unique_ptr<Chunk>;

  void begin_chunk(size_t number);
  void hand_over();
  void work(const std::stop_token& stop);
  void count_and_join(ChunkPointer chunk);
  void join_in_order();
  static void count(Chunk& chunk);
  void join(Chunk& chunk);

  LiveAtoms& atoms_;
  DistanceHistogram& histogram_;
  ChunkLength length_;
  size_t chunk_visits_ = 0;
  ChunkPointer chunk_;  // that fills
  std::shared_ptr<const Sizes> sizes_;
  StackDistance stack_;  // after the chunks that were joined
  size_t known_ = 0;     // atoms, to stack_
  int64_t visits_ = 0;

  std::mutex mutex_;  // of what follows
  std::condition_variable_any changed_;
  std::deque<ChunkPointer> waiting_;
  std::map<size_t, ChunkPointer> counted_;
  size_t next_ = 0;  // chunk to join
  bool joining_ = false;
  std::exception_ptr error_;
  std::vector<std::jthread> threads_;  // the last member: they end before the others do
};

}  // namespace sawtooth::sim
