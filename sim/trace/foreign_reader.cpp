#include "sim/trace/foreign_reader.hpp"

#include <map>
#include <stdexcept>
#include <tuple>

namespace sawtooth::sim {
namespace {

constexpr size_t longest_row = 4096;  // 32 addresses and what belongs to them

}  // namespace

ForeignTraceReader::ForeignTraceReader(std::istream& in, std::string name,
                                       std::unique_ptr<ForeignFormat> format,
                                       const TraceLimits& limits, uint32_t workers)
    : in_(in),
      name_(std::move(name)),
      format_(std::move(format)),
      limits_(limits),
      workers_(workers) {}

void ForeignTraceReader::fail(const std::string& what) const {
  throw TraceError(name_ + ":" + std::to_string(row_number_) + ": " + what);
}

bool ForeignTraceReader::read_access() {
  for (;;) {
    ++row_number_;
    row_.resize(longest_row + 1);
    in_.getline(row_.data(), static_cast<std::streamsize>(row_.size()));
    const auto taken = static_cast<size_t>(in_.gcount());
    if (in_.fail() && !in_.eof())
      fail("a line of more than " + std::to_string(longest_row) + " characters");
    if (taken == 0) return false;
    row_.resize(in_.eof() ? taken : taken - 1);
    if (row_.ends_with('\r')) row_.pop_back();
    if (row_.empty()) continue;
    access_ = {};
    try {
      if (format_->parse(row_, access_)) return true;
    } catch (const std::invalid_argument& error) {
      fail(error.what());
    }
  }
}

std::vector<ForeignTraceReader::Visit> ForeignTraceReader::visits_of_access() {
  std::vector<Visit> visits;
  for (const uint64_t line : access_.lines) {
    const auto [at, is_new] = atom_at_.try_emplace(line, static_cast<AtomId>(atoms_.size()));
    if (is_new) {
      if (atoms_.size() >= limits_.atoms)
        fail("more than " + std::to_string(limits_.atoms) +
             " different lines; --most-atoms raises the limit");
      atoms_.push_back({.first_line = line});
    }
    visits.push_back({at->second, access_.access});
  }
  return visits;
}

void ForeignTraceReader::read_streams() {
  using Cta = std::tuple<uint64_t, uint32_t, uint32_t, uint32_t>;  // launch, z, y, x
  std::map<Cta, std::map<uint32_t, std::vector<std::vector<Visit>>>> found;
  do {
    const auto& [x, y, z] = access_.cta;
    const uint32_t warp = format_->warps_apart() ? access_.warp : 0;
    found[{access_.launch, z, y, x}][warp].push_back(visits_of_access());
  } while (read_access());
  for (auto& cta : found) {
    Stream stream;
    stream.launch = std::get<0>(cta.first);
    // Warps take turns.
    bool any = true;
    for (size_t turn = 0; any; ++turn) {
      any = false;
      for (auto& entry : cta.second) {
        if (turn >= entry.second.size()) continue;
        any = true;
        stream.accesses.push_back(std::move(entry.second[turn]));
      }
    }
    streams_.push_back(std::move(stream));
  }
  slots_.resize(workers_ == 0 ? streams_.size() : workers_);
}

// One step: every CTA in flight makes an access.
bool ForeignTraceReader::refill() {
  for (;;) {
    bool busy = false;
    for (const Slot& slot : slots_) busy = busy || slot.stream != SIZE_MAX;
    if (!busy && next_stream_ == streams_.size()) return false;
    for (Slot& slot : slots_) {
      if (slot.stream != SIZE_MAX || next_stream_ == streams_.size()) continue;
      const bool same_launch =
          next_stream_ == 0 || streams_[next_stream_].launch == streams_[next_stream_ - 1].launch;
      if (busy && !same_launch) break;
      slot = {next_stream_++, 0};
      busy = true;
    }
    for (size_t worker = 0; worker < slots_.size(); ++worker) {
      Slot& slot = slots_[worker];
      if (slot.stream == SIZE_MAX) continue;
      std::vector<std::vector<Visit>>& accesses = streams_[slot.stream].accesses;
      for (const Visit& visit : accesses[slot.next])
        ready_.push_back({visit, static_cast<uint32_t>(worker)});
      if (++slot.next < accesses.size()) continue;
      accesses = {};
      slot.stream = SIZE_MAX;
    }
    if (!ready_.empty()) return true;
  }
}

bool ForeignTraceReader::next(TraceVisit& visit) {
  if (!begun_) {
    begun_ = true;
    // Columns say whether there are streams, so the first access comes first.
    if (!read_access()) return false;
    lockstep_ = format_->has_streams();
    if (lockstep_) {
      read_streams();
    } else {
      for (const Visit& one : visits_of_access()) ready_.push_back({one, access_.cta[0]});
    }
  } else if (ready_.empty()) {
    ++step_;
  }
  while (ready_.empty()) {
    if (lockstep_) {
      if (!refill()) return false;
    } else {
      if (!read_access()) return false;
      for (const Visit& one : visits_of_access()) ready_.push_back({one, access_.cta[0]});
    }
  }
  visit = {.atom = ready_.front().visit.atom,
           .access = ready_.front().visit.access,
           .worker = ready_.front().worker,
           .step = step_};
  ready_.pop_front();
  const std::string fault = totals_.add(visit, atoms_[visit.atom]);
  if (!fault.empty()) fail(fault);
  return true;
}

}  // namespace sawtooth::sim
