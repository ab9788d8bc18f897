// LRU stack distances of single lines at every capacity, from a file of accesses in libCacheSim's
// binary format oracleGeneral (records of 24 bytes: time 4, object 8, size 4, next access 8; little
// endian), whose objects are lines here. Prints CSV: lines, distinct_lines, seconds of processor
// time, bytes_a_line (peak memory of the process beyond the file, by distinct lines), and misses at
// a capacity in lines.
//
//   line_distances FILE CAPACITY_LINES
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/trace/analyse.hpp"
#include "sim/trace/trace_atoms.hpp"

namespace {

using namespace sawtooth;
using namespace sawtooth::sim;

constexpr size_t record_bytes = 24;
constexpr size_t object_offset = 4;
constexpr size_t records_at_a_time = 64;  // enough to fetch ahead what the index looks up

class RecordReader : public TraceReader {
 public:
  explicit RecordReader(const char* path) : file_(path, std::ios::binary), buffer_(buffer_bytes) {
    if (!file_) throw std::runtime_error(std::string(path) + " cannot be opened");
  }
  bool next(TraceVisit& visit) override {
    if (next_ == end_ && !read_ahead()) return false;
    const uint64_t line = ahead_[next_++];
    visit = {};
    visit.atom = index_.find_after(last_, line);
    if (visit.atom == AtomIndex::none) {
      visit.atom = static_cast<AtomId>(atoms_.size());
      atoms_.push_back({.first_line = line});
      index_.add_last();
    }
    last_ = visit.atom;
    return true;
  }
  const TraceAtoms& atoms() const override { return atoms_; }
  bool begins_differ() const override { return true; }
  const std::string& description() const override { return description_; }

 private:
  static constexpr size_t buffer_bytes = record_bytes << 11;  // which a small cache holds

  bool read_ahead() {
    if (at_ == filled_) {
      file_.read(buffer_.data(), buffer_bytes);
      filled_ = static_cast<size_t>(file_.gcount()) / record_bytes * record_bytes;
      at_ = 0;
    }
    next_ = end_ = 0;
    for (; end_ < ahead_.size() && at_ < filled_; at_ += record_bytes) {
      std::memcpy(&ahead_[end_], &buffer_[at_ + object_offset], sizeof ahead_[end_]);
      index_.fetch(ahead_[end_++]);
    }
    return end_ > 0;
  }

  std::ifstream file_;
  std::vector<char> buffer_;
  size_t at_ = 0, filled_ = 0;
  std::array<uint64_t, records_at_a_time> ahead_{};
  size_t next_ = 0, end_ = 0;
  TraceAtoms atoms_;
  AtomIndex index_{atoms_};
  AtomId last_ = 0;  // the atom that was visited
  std::string description_;
};

/// Of this program alone: getrusage remembers the process that has started it.
int64_t peak_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    int64_t kib = 0;
    if (word == "VmHWM:" && status >> kib) return kib * 1024;
  }
  throw std::runtime_error("/proc/self/status has no VmHWM");
}

int run(const char* path, int64_t capacity_lines) {
  const TraceLimits limits{.atoms = UINT32_MAX - 1};
  const int64_t before = peak_bytes();
  const std::clock_t start = std::clock();
  RecordReader reader(path);
  const Prediction prediction = analyse_trace(reader, capacity_lines * 128, limits);
  const double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  const auto distinct = static_cast<int64_t>(reader.atoms().size());
  std::printf("lines,distinct_lines,seconds,bytes_a_line,misses\n%lld,%lld,%.3f,%.1f,%lld\n",
              static_cast<long long>(prediction.tile_visits), static_cast<long long>(distinct),
              seconds, double(peak_bytes() - before) / double(distinct),
              static_cast<long long>(prediction.total.l2_read_miss_sectors.value_or(-4) / 4));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || std::atoll(argv[2]) <= 0) {
    std::fputs("line_distances FILE CAPACITY_LINES\n", stderr);
    return 2;
  }
  try {
    return run(argv[1], std::atoll(argv[2]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "line_distances: %s\n", error.what());
    return 2;
  }
}
