#include "sim/lru/chunked_histogram.hpp"

#include <algorithm>
#include <ranges>
#include <span>
#include <utility>

#include "sim/lru/count_visit.hpp"
#include "sim/lru/distance_batch.hpp"

namespace sawtooth::sim {

ChunkedHistogram::ChunkedHistogram(LiveAtoms& atoms, DistanceHistogram& histogram, int64_t threads,
                                   ChunkLength length)
    : atoms_(atoms), histogram_(histogram), length_(length), stack_(std::span<const AtomSize>()) {
  begin_chunk(0);
  for (int64_t i = 1; i < threads; ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

void ChunkedHistogram::begin_chunk(size_t number) {
  chunk_ = std::make_unique<Chunk>();
  chunk_->number = number;
  chunk_visits_ = std::max(length_.least, length_.of_an_atom * atoms_.sizes().size());
  chunk_->visits.reserve(chunk_visits_);
}

// The chunk that has filled goes to another thread; where those have enough to do, the oldest one
// that waits is counted here.
void ChunkedHistogram::hand_over() {
  atoms_.recycle([this](AtomRange atoms) { chunk_->ended.push_back(atoms); });
  if (!sizes_ || sizes_->size() < atoms_.sizes().size())
    sizes_ = std::make_shared<const Sizes>(atoms_.sizes());
  chunk_->sizes = sizes_;
  const size_t number = chunk_->number;
  ChunkPointer own;
  {
    const std::scoped_lock lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    waiting_.push_back(std::move(chunk_));
    if (waiting_.size() > threads_.size()) {
      own = std::move(waiting_.front());
      waiting_.pop_front();
    }
  }
  changed_.notify_all();
  if (own) count_and_join(std::move(own));
  begin_chunk(number + 1);
}

void ChunkedHistogram::flush() {
  const size_t chunks = chunk_->number + 1;
  hand_over();
  std::unique_lock lock(mutex_);
  while (next_ < chunks && !error_) {
    if (waiting_.empty()) {
      changed_.wait(lock);
      continue;
    }
    ChunkPointer own = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    count_and_join(std::move(own));
    lock.lock();
  }
  if (error_) std::rethrow_exception(error_);
}

void ChunkedHistogram::work(const std::stop_token& stop) {
  for (;;) {
    ChunkPointer chunk;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [this] { return !waiting_.empty(); });
      if (stop.stop_requested()) return;
      chunk = std::move(waiting_.front());
      waiting_.pop_front();
    }
    count_and_join(std::move(chunk));
  }
}

void ChunkedHistogram::count_and_join(ChunkPointer chunk) {
  try {
    count(*chunk);
    const std::scoped_lock lock(mutex_);
    const size_t number = chunk->number;
    counted_.emplace(number, std::move(chunk));
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    error_ = std::current_exception();
  }
  join_in_order();
  changed_.notify_all();
}

void ChunkedHistogram::join_in_order() {
  std::unique_lock lock(mutex_);
  while (!joining_ && !error_ && counted_.contains(next_)) {
    const ChunkPointer chunk = std::move(counted_.extract(next_).mapped());
    joining_ = true;
    lock.unlock();
    std::exception_ptr error;
    try {
      join(*chunk);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    joining_ = false;
    ++next_;
    if (error) error_ = error;
  }
}

void ChunkedHistogram::count(Chunk& chunk) {
  StackDistance stack(*chunk.sizes);
  DistanceBatch<Visit> batch;
  const auto add = [&](const Visit& visit, int64_t others) {
    const AtomSize& size = (*chunk.sizes)[visit.atom];
    if (others == StackDistance::cold)
      chunk.cold.push_back(visit);
    else
      count_visit(chunk.histogram, visit, size, others);
  };
  for (const Visit& visit : chunk.visits) batch.add(visit, stack, add);
  batch.flush(stack, add);
  chunk.recency = stack.recency_order();
}

void ChunkedHistogram::join(Chunk& chunk) {
  while (known_ < chunk.sizes->size()) stack_.add((*chunk.sizes)[known_++].lines);
  DistanceBatch<Visit> batch;
  const auto add = [&](const Visit& visit, int64_t others) {
    count_visit(histogram_, visit, (*chunk.sizes)[visit.atom], others);
  };
  for (const Visit& visit : chunk.cold) batch.add(visit, stack_, add);
  batch.flush(stack_, add);
  std::ranges::reverse(chunk.recency);
  std::vector<int64_t> ignored(chunk.recency.size());
  stack_.visit(chunk.recency, ignored);
  for (const AtomRange atoms : chunk.ended) stack_.forget(atoms);
  histogram_.add(chunk.histogram);
  for (const Visit& visit : chunk.visits) visits_ += visit.times;
}

}  // namespace sawtooth::sim
