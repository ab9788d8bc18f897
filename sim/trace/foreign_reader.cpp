#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <unordered_map>

#include "sim/trace/checks.hpp"
#include "sim/trace/readers.hpp"

namespace sawtooth::sim {
namespace {

constexpr size_t longest_row = 4096;  // 32 addresses and what belongs to them

// Where a trace names CTAs but no times, its CTAs are streams: up to `workers` of them are in
// flight, in the order of their numbers, each makes one access a step, and one that has ended is
// followed by the next. A launch begins when the one before has ended. (Instrumented programs keep
// the order of a CTA, not the time.) Else visits come in the order of the file.
class ForeignReader : public TraceReader {
 public:
  /// `workers` 0: all CTAs of a launch at once.
  ForeignReader(std::istream& in, const std::string& name, std::unique_ptr<ForeignFormat> format,
                const TraceLimits& limits, uint32_t workers)
      : lines_(in, name, longest_row),
        format_(std::move(format)),
        limits_(limits),
        workers_(workers) {}
  bool next(TraceVisit& visit) override;
  const TraceAtoms& atoms() const override { return atoms_; }
  const std::string& description() const override { return description_; }

 private:
  // Accesses of neighbouring atoms at equal distances: access i is to `atoms` of them from first +
  // i x stride on.
  struct Run {
    AtomId first = 0;
    uint32_t stride = 0;  // modulo 2^32
    uint32_t times = 1;
    uint16_t atoms = 1;
    Access access = Access::read;
    bool goes_on = false;  // a further part of the access before
  };
  struct Warp {
    std::vector<Run> runs;
    size_t next = 0;         // run,
    uint32_t next_time = 0;  // and access of it
  };
  struct Stream {
    uint64_t launch = 0;
    std::vector<Warp> warps;
    size_t next = 0;  // warp: they take turns
  };

  bool read_access();
  std::vector<Run> runs_of_access();
  void keep(Warp& warp, const std::vector<Run>& access);
  void read_streams();  // from the access that was read last on
  bool refill();
  void make_ready(const Run& run, uint32_t time, uint32_t worker);
  bool next_access(Stream& stream, uint32_t worker);

  TextLines lines_;
  std::unique_ptr<ForeignFormat> format_;
  TraceLimits limits_;
  uint32_t workers_;
  ForeignAccess access_;
  TraceAtoms atoms_;
  std::unordered_map<uint64_t, AtomId> atom_at_;
  TraceTotals totals_;
  std::string description_;
  bool begun_ = false;
  bool lockstep_ = false;

  struct Ready {
    AtomId atom;
    Access access;
    uint32_t worker;
  };
  std::deque<Ready> ready_;
  uint64_t step_ = 0;

  std::vector<Stream> streams_;  // in the order in which CTAs start
  size_t next_stream_ = 0;
  std::map<uint32_t, size_t> busy_;  // worker -> stream
  std::set<uint32_t> idle_;
  uint64_t kept_runs_ = 0;
};

bool ForeignReader::read_access() {
  while (lines_.next()) {
    access_ = {};
    try {
      if (format_->parse(lines_.line(), access_)) return true;
    } catch (const std::invalid_argument& error) {
      lines_.fail(error.what());
    }
  }
  return false;
}

std::vector<ForeignReader::Run> ForeignReader::runs_of_access() {
  std::vector<Run> runs;
  for (const uint64_t line : access_.lines) {
    const auto [at, is_new] = atom_at_.try_emplace(line, static_cast<AtomId>(atoms_.size()));
    if (is_new) {
      if (atoms_.size() >= limits_.atoms) lines_.fail(too_many_atoms(limits_));
      atoms_.push_back({.first_line = line});
    }
    const AtomId atom = at->second;
    if (!runs.empty() && atom == runs.back().first + runs.back().atoms)
      ++runs.back().atoms;
    else
      runs.push_back({.first = atom, .access = access_.access, .goes_on = !runs.empty()});
  }
  return runs;
}

void ForeignReader::keep(Warp& warp, const std::vector<Run>& access) {
  constexpr uint64_t runs_of_a_warp = 12;  // take as much memory as what stands for it
  const Run& now = access.front();
  if (warp.runs.empty()) {
    kept_runs_ += runs_of_a_warp;
  } else if (Run& last = warp.runs.back(); access.size() == 1 && !last.goes_on &&
                                           last.atoms == now.atoms && last.access == now.access) {
    if (last.times == 1) last.stride = now.first - last.first;
    if (last.times < UINT32_MAX && now.first == last.first + last.times * last.stride) {
      ++last.times;
      return;
    }
  }
  kept_runs_ += access.size();
  if (kept_runs_ > uint64_t{2} * limits_.atoms)
    lines_.fail("more than " + std::to_string(2 * uint64_t{limits_.atoms}) +
                " runs of accesses; --most-atoms raises the limit");
  warp.runs.insert(warp.runs.end(), access.begin(), access.end());
}

void ForeignReader::read_streams() {
  using Cta = std::tuple<uint64_t, uint32_t, uint32_t, uint32_t>;  // launch, z, y, x
  std::map<Cta, std::map<uint32_t, Warp>> found;
  do {
    const auto& [x, y, z] = access_.cta;
    const uint32_t warp = format_->warps_apart() ? access_.warp : 0;
    keep(found[{access_.launch, z, y, x}][warp], runs_of_access());
  } while (read_access());
  for (auto& [cta, warps] : found) {
    Stream& stream = streams_.emplace_back();
    stream.launch = std::get<0>(cta);
    for (auto& [number, warp] : warps) stream.warps.push_back(std::move(warp));
    warps.clear();
  }
  const size_t workers =
      workers_ == 0 ? streams_.size() : std::min<size_t>(workers_, streams_.size());
  for (uint32_t worker = 0; worker < workers; ++worker) idle_.insert(idle_.end(), worker);
}

void ForeignReader::make_ready(const Run& run, uint32_t time, uint32_t worker) {
  for (uint32_t atom = 0; atom < run.atoms; ++atom)
    ready_.push_back({run.first + time * run.stride + atom, run.access, worker});
}

// Makes the stream's next access ready; false when it was its last one.
bool ForeignReader::next_access(Stream& stream, uint32_t worker) {
  Warp& warp = stream.warps[stream.next];
  make_ready(warp.runs[warp.next], warp.next_time, worker);
  if (++warp.next_time == warp.runs[warp.next].times) {
    warp.next_time = 0;
    for (++warp.next; warp.next < warp.runs.size() && warp.runs[warp.next].goes_on; ++warp.next)
      make_ready(warp.runs[warp.next], 0, worker);
  }
  if (warp.next == warp.runs.size())
    stream.warps.erase(stream.warps.begin() + static_cast<std::ptrdiff_t>(stream.next));
  else
    ++stream.next;
  if (stream.next == stream.warps.size()) stream.next = 0;
  return !stream.warps.empty();
}

// One step: every CTA in flight makes an access.
bool ForeignReader::refill() {
  while (!idle_.empty() && next_stream_ < streams_.size()) {
    const bool same_launch =
        next_stream_ == 0 || streams_[next_stream_].launch == streams_[next_stream_ - 1].launch;
    if (!busy_.empty() && !same_launch) break;
    busy_.emplace(*idle_.begin(), next_stream_++);
    idle_.erase(idle_.begin());
  }
  for (auto at = busy_.begin(); at != busy_.end();) {
    if (next_access(streams_[at->second], at->first)) {
      ++at;
      continue;
    }
    streams_[at->second].warps.shrink_to_fit();
    idle_.insert(at->first);
    at = busy_.erase(at);
  }
  return !ready_.empty();
}

bool ForeignReader::next(TraceVisit& visit) {
  if (!begun_) {
    begun_ = true;
    // Columns say whether there are streams, so the first access comes first.
    if (!read_access()) return false;
    lockstep_ = format_->has_streams();
    if (lockstep_) {
      read_streams();
    } else {
      for (const Run& run : runs_of_access()) make_ready(run, 0, access_.cta[0]);
    }
  } else if (ready_.empty()) {
    ++step_;
  }
  while (ready_.empty()) {
    if (lockstep_) {
      if (!refill()) return false;
    } else {
      if (!read_access()) return false;
      for (const Run& run : runs_of_access()) make_ready(run, 0, access_.cta[0]);
    }
  }
  visit = {.atom = ready_.front().atom,
           .access = ready_.front().access,
           .worker = ready_.front().worker,
           .step = step_};
  ready_.pop_front();
  const std::string fault = totals_.add(visit, atoms_[visit.atom]);
  if (!fault.empty()) lines_.fail(fault);
  return true;
}

}  // namespace

std::unique_ptr<TraceReader> foreign_reader(std::istream& in, const std::string& name,
                                            std::unique_ptr<ForeignFormat> format,
                                            const TraceLimits& limits, uint32_t workers) {
  return std::make_unique<ForeignReader>(in, name, std::move(format), limits, workers);
}

}  // namespace sawtooth::sim
