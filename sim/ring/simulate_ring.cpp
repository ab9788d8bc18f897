#include "sim/ring/simulate_ring.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "scheduler/memory_units.hpp"
#include "sim/halves/halves_in_step.hpp"
#include "sim/schedule/limits.hpp"
#include "sim/schedule/link_traffic.hpp"
#include "sim/schedule/live_atoms.hpp"
#include "sim/schedule/wavefront.hpp"
#include "sim/timed/memory.hpp"
#include "sim/timed/simulate_timed.hpp"
#include "sim/timed/step_cost.hpp"

namespace sawtooth::sim {
namespace {

constexpr Tensor of_queries[] = {Tensor::q, Tensor::o, Tensor::running_o, Tensor::running_lse};

using Tallies = std::array<Tally, tensor_count>;

/// Buffers of K and V: the rank's own, and two that the others' come to in turn.
int64_t buffers(const Ring& ring) {
  return std::min<int64_t>(ring.ranks, 3);
}
int64_t buffer_of_step(int64_t step) {
  return step == 0 ? 0 : 2 - step % 2;
}

void require(bool fine, const std::string& what) {
  if (!fine) throw std::invalid_argument(what);
}

void check(const RingRequest& ring) {
  const Request& request = ring.request;
  require(
      request.schedule.loop == Loop::kv_inner && request.schedule.kv_split == 1 &&
          request.schedule.order.list == nullptr && request.sequences.lengths == nullptr &&
          !request.log_sum_exp,
      "ring: takes one length, with loop = kv-inner, kv-split = 1, lse = off and no order-file");
  if (request.problem.pass == Pass::backward) {
    require(request.schedule.dq != Dq::separate && !request.schedule.small_kernels,
            "ring: with pass = backward its small kernels are always there; allowed: dq = atomic, "
            "ordered, and small-kernels = off");
    require_limits(request);
  }
  if (ring.ring.ranks == 1) return;
  require(!ring.link.empty(),
          "ring: the gpu's profile has no bandwidth of the link for this mover");
}

bool is_backward(const RingRequest& ring) {
  return ring.request.problem.pass == Pass::backward;
}

/// The problem that a rank's tensors have.
Request rank_request(const RingRequest& ring, int64_t rank) {
  Request request = ring.request;
  request.problem.seq_q = request.problem.seq_kv = ring.ring.rank_rows();
  request.launch = rank;  // GPUs differ, as launches do
  return request;
}

KeyParts key_parts(const RingRequest& ring, int64_t rank) {
  if (ring.ring.ranks == 1 || is_backward(ring)) return {};
  KeyParts parts{.exist = true, .buffers = buffers(ring.ring)};
  for (int64_t step = 0; step < ring.ring.ranks; ++step) {
    const Request call = step_request(ring, rank, step);
    if (call.problem.seq_q == 0 || !cuts_last_wave(call.schedule)) continue;
    parts.pieces =
        std::max(parts.pieces, last_wave(call.problem, call.tiling, call.schedule).most_pieces());
  }
  return parts;
}

KvAtoms timed_atoms(const RingRequest& ring, const TimedParameters& parameters) {
  return parameters.step.leads || is_backward(ring) ? KvAtoms::tiles : KvAtoms::pairs;
}

LiveAtoms rank_atoms(const RingRequest& ring, int64_t rank, KvAtoms kv) {
  Request request = rank_request(ring, rank);
  request.key_parts = key_parts(ring, rank);
  return LiveAtoms(request, kv);
}

/// What of the rank's tensors the call of a step has. Where its chunks are no whole tiles, its
/// tiles are those of the rank that begin up to a tile earlier.
void shift_to(const RingRequest& ring, int64_t rank, int64_t step, LiveAtoms& atoms) {
  RingCall call;
  ring.ring.call_of(rank, step, call);
  for (const Tensor tensor : of_queries)
    atoms.shift(tensor, {0, call.q_rows.begin / ring.request.tiling.q_rows});
  const Problem& problem = ring.request.problem;
  for (const Tensor tensor : {Tensor::k, Tensor::v})
    atoms.shift(tensor, {buffer_of_step(step) * problem.batch * problem.kv_heads,
                         call.kv_rows.begin / ring.request.tiling.kv_rows});
}

HalvesParameters one_block(int64_t l2_bytes) {
  return {.halves = 1, .capacity_lines = l2_bytes / line_bytes};
}

/// A rank's calls in time.
class TimedRank {
 public:
  static constexpr bool knows_time = true;

  TimedRank(const RingRequest& ring, const Gpu& gpu, int64_t rank)
      : ring_(ring),
        gpu_(gpu),
        halves_(ring.halves),
        request_(rank_request(ring, rank)),
        parameters_(timed_parameters(request_, gpu, ring.halves)),
        atoms_(rank_atoms(ring, rank, timed_atoms(ring, parameters_))),
        memory_(parameters_.l2, parameters_.sms, atoms_, parameters_.merging),
        heads_(atoms_, memory_) {}

  LiveAtoms& atoms() { return atoms_; }
  bool has_pairs() const { return timed_atoms(ring_, parameters_) == KvAtoms::pairs; }
  const PowerLimit& power() const { return parameters_.power; }
  /// A rank's first call has these: calls behind it find the kernel's code in L2.
  void add_launch(Counters& total) const { add_launch_reads(total, parameters_); }

  /// Returns when the call ends that is launched at `begin_ns`.
  double run(const Request& call, double begin_ns, LinkTraffic& traffic) {
    TimedParameters parameters = timed_parameters(call, gpu_, halves_);
    // GPCs differ at the full clock, of launches that stand apart; a call lasts as the one before.
    parameters.step.sm_spread =
        parameters.step.sm_spread.value_or(0) * (1 - power().fallen(begin_ns, begin_ns + last_ns_));
    const TimedReplay replay =
        replay_in_time(call, parameters, atoms_, memory_, {begin_ns, &traffic});
    visits_ += replay.tile_visits;
    last_ns_ = replay.end_ns - begin_ns;
    return replay.end_ns;
  }
  void wait(double until_ns, LinkTraffic& traffic) {
    traffic.cross_until(until_ns, atoms_, [&](double ns, AtomRange came, AtomRange went) {
      heads_.begin();
      memory_.cross(ns, came, went, traffic.copier());
    });
  }
  Tallies tallies() {
    memory_.dram_busy_ns();  // settles what is written back
    Tallies tallies;
    for (size_t t = 0; t < tallies.size(); ++t) tallies[t] = memory_.tally(static_cast<Tensor>(t));
    return tallies;
  }
  int64_t tile_visits() const { return visits_; }

 private:
  const RingRequest& ring_;
  const Gpu& gpu_;
  bool halves_;
  Request request_;
  TimedParameters parameters_;
  LiveAtoms atoms_;
  TimedMemory memory_;
  HeldHeads<TimedMemory> heads_;
  int64_t visits_ = 0;
  double last_ns_ = 0;  // that the call before took; of the first call 0
};

/// A rank's calls in lockstep. A step takes what it takes in time where nothing is waited for, and
/// so tells how many steps a transfer lasts.
class LockstepRank {
 public:
  static constexpr bool knows_time = false;

  LockstepRank(const RingRequest& ring, const Gpu& gpu, int64_t rank)
      : request_(rank_request(ring, rank)),
        model_(ring.halves ? halves_model(request_, gpu)
                           : HalvesModel{one_block(request_.l2_bytes), {}}),
        atoms_(rank_atoms(ring, rank, KvAtoms::parts)),
        l2_(model_.l2, &atoms_, model_.coalescer),
        heads_(atoms_, l2_),
        visits_(*this, atoms_.sizes(), model_.l2, request_.merge_lockstep),
        step_ns_(ring.ring.ranks == 1 ? 0 : lockstep_ns(gpu)) {}

  LiveAtoms& atoms() { return atoms_; }
  bool has_pairs() const { return false; }

  double run(const Request& call, double begin_ns, LinkTraffic& traffic) {
    traffic_ = &traffic;
    begin_ns_ = begin_ns;
    LockstepWavefront<LockstepRank, LiveAtoms> wavefront(call, atoms_, *this);
    wavefront.run();
    visits_.flush();
    return begin_ns + double(wavefront.steps()) * step_ns_;
  }
  void wait(double until_ns, LinkTraffic& traffic) {
    if (!traffic.is_due(until_ns)) return;
    visits_.flush();
    traffic.cross_until(until_ns, atoms_, [&](double, AtomRange came, AtomRange went) {
      heads_.begin();
      for (AtomId atom = came.begin; atom < came.end; ++atom) l2_.receive(atom, traffic.copier());
      for (AtomId atom = went.begin; atom < went.end; ++atom) l2_.send(atom, traffic.copier());
    });
  }
  Tallies tallies() {
    Tallies tallies;
    for (size_t t = 0; t < tallies.size(); ++t) tallies[t] = l2_.tally(static_cast<Tensor>(t));
    return tallies;
  }
  int64_t tile_visits() const { return l2_.visits(); }

  // The sink of a wavefront, and what its visits go to.
  void begin_step(int64_t step) { wait(begin_ns_ + double(step) * step_ns_, *traffic_); }
  void touch(int64_t worker, AtomId atom, Access access) { visits_.touch(worker, atom, access); }
  void at(int64_t, int64_t, const Item&, const TilePair&) {}
  void visit(const HalfVisit& visit) {
    heads_.begin();
    l2_.visit(visit);
  }
  void settle() { heads_.settle(); }

 private:
  double lockstep_ns(const Gpu& gpu) const {
    const TimedParameters parameters = timed_parameters(request_, gpu, false);
    const auto ctas = static_cast<int>(
        std::max<int64_t>(1, request_.schedule.workers / std::max<int64_t>(1, gpu.sms)));
    return step_cost(parameters.step, request_.problem, request_.tiling).shared_ns(ctas, 0);
  }

  Request request_;
  HalvesModel model_;
  LiveAtoms atoms_;
  HalvesInStep l2_;
  HeldHeads<HalvesInStep> heads_;
  HalfVisits<LockstepRank> visits_;
  double step_ns_;
  LinkTraffic* traffic_ = nullptr;
  double begin_ns_ = 0;
};

/// When the transfers of a rank begin and end. A step's K and V come behind those of the step
/// before, into a buffer that the call two steps ago has read.
class Transfers {
 public:
  Transfers(const RingRequest& ring, bool pairs)
      : ring_(ring.ring),
        heads_(ring.request.problem.batch * ring.request.problem.kv_heads),
        traffic_(heads_, kv_tiles(rank_request(ring, 0).problem, ring.request.tiling), pairs,
                 ring.copier),
        end_ns_(static_cast<size_t>(ring.ring.ranks), 0.0) {
    const int64_t bytes = heads_ * ring.ring.rank_rows() * ring.request.problem.row_bytes();
    if (ring.ring.ranks > 1) transfer_ns_ = transfer_ns(ring.link, bytes);
  }

  /// The calls of all steps before `step` have ended, the last one at `now_ns`: adds transfers that
  /// begin before the call of `step` ends.
  void plan(int64_t step, double now_ns) {
    // Where a move needs SMs, it begins behind the call before its own.
    const int64_t end = traffic_.copier() == Copier::sms ? step + 1 : ring_.moves_beside(step).end;
    while (next_ < std::min(ring_.ranks, end)) {
      const double begin_ns = std::max(now_ns, end_ns_[static_cast<size_t>(next_ - 1)]);
      end_ns_[static_cast<size_t>(next_)] = begin_ns + transfer_ns_;
      traffic_.add(begin_ns, begin_ns + transfer_ns_, buffer_of_step(next_) * heads_);
      ++next_;
    }
  }

  LinkTraffic& traffic() { return traffic_; }
  double arrival_ns(int64_t step) const { return end_ns_[static_cast<size_t>(step)]; }
  double one_ns() const { return transfer_ns_; }

 private:
  Ring ring_;
  int64_t heads_;
  LinkTraffic traffic_;
  std::vector<double> end_ns_;
  double transfer_ns_ = 0;
  int64_t next_ = 1;
};

struct Interval {
  double begin_ns = 0, end_ns = 0;
};

RingStep counted(const Tallies& now, const Tallies& before, bool bulk) {
  RingStep step;
  const auto of_step = [&](Tensor tensor) {
    const auto t = static_cast<size_t>(tensor);
    return now[t].since(before[t]).counters();
  };
  set_counters(step, of_step, bulk);
  return step;
}

// Calls of a rank begin and end at these times at the full clock. In each round the first GPU also
// makes the plain call, and the others rest meanwhile.
void slow_down(std::vector<RingStep>& steps, const std::vector<Interval>& calls,
               const PowerLimit& power, const LoadBefore& load, int64_t rank) {
  const double ring_ns = calls.back().end_ns, ranks = double(calls.size());
  const double plain_ns = ranks * ring_ns;
  const double load_ns = rank == 0 ? load.ring_rounds * (plain_ns + ring_ns) + plain_ns : 0;
  for (size_t step = 0; step < steps.size(); ++step) {
    const auto& [begin_ns, end_ns] = calls[step];
    *steps[step].time_us *= calls.size() == 1
                                ? power.slower_launch(end_ns - begin_ns, load.launches)
                                : power.slower(load_ns + begin_ns, load_ns + end_ns);
  }
}

template <class Replay>
std::vector<RingStep> replay(const RingRequest& ring, const Gpu& gpu, int64_t rank) {
  Replay replay(ring, gpu, rank);
  Transfers transfers(ring, replay.has_pairs());
  std::vector<RingStep> steps;
  std::vector<Interval> calls;
  Tallies before{};
  int64_t visits = 0;
  double now_ns = 0;  // end of the call before
  for (int64_t step = 0; step < ring.ring.ranks; ++step) {
    transfers.plan(step, now_ns);
    const double begin_ns = std::max(now_ns, transfers.arrival_ns(step));
    replay.wait(begin_ns, transfers.traffic());
    const Request call = step_request(ring, rank, step);
    double end_ns = begin_ns;
    if (call.problem.seq_q > 0) {
      shift_to(ring, rank, step, replay.atoms());
      end_ns = replay.run(call, begin_ns, transfers.traffic());
    }
    const Tallies now = replay.tallies();
    RingStep& done = steps.emplace_back(counted(now, before, ring.request.bulk_loads));
    done.tile_visits = replay.tile_visits() - visits;
    if (step > 0) done.transfer_us = transfers.one_ns() / ns_a_us;
    if constexpr (Replay::knows_time) {
      if (step == 0) replay.add_launch(done.total);
      done.time_us = (end_ns - begin_ns) / ns_a_us;
      done.exposed_us = (begin_ns - now_ns) / ns_a_us;
    }
    calls.push_back({begin_ns, end_ns});
    before = now;
    visits = replay.tile_visits();
    now_ns = end_ns;
  }
  if constexpr (Replay::knows_time)
    slow_down(steps, calls, replay.power(), ring.request.load, rank);
  return steps;
}

// What a step of the ring's backward pass does beside its main kernel: the two small kernels around
// it, the sums of gradients that come in parts (kernels/ring/ring_attention.hpp), and what
// crosses the link. Each reads and writes its tensors once, one after another, and all of them are
// larger than L2: what it reads comes from DRAM, and what it writes goes there.

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

/// Bytes of a part of dK, as many as of dV, that comes back to the rank behind `step`; 0: none.
int64_t returned_bytes(const RingRequest& ring, int64_t rank, int64_t step) {
  RingReturn part;
  return step == 0 || !ring.ring.return_of(rank, step, part) ? 0 : bytes_of(ring, part);
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

/// All bytes that SMs move in these streams.
int64_t streamed_bytes(const std::array<Counters, tensor_count>& streams) {
  int64_t sectors = 0;
  for (const Counters& counters : streams)
    sectors += counters.sm_read_sectors.value_or(0) + counters.l2_write_sectors.value_or(0);
  return sectors * sector_bytes;
}

/// Bytes that SMs read and write to add the part that comes back behind `step` to dK and dV.
int64_t added_bytes(const RingRequest& ring, int64_t rank, int64_t step) {
  Streams streams;
  if (step > 0) add_returned(ring, rank, step, streams);
  return streamed_bytes(streams.by_tensor);
}

/// Counters by tensor. The sums of dQ are those of `running_o`, those of dK and dV count as these.
/// Behind the call of the last step also what the rank does with what comes back then.
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

/// When the K and V of a step are there, where nothing else crosses the link: as Transfers has it.
double arrival_after(const RingRequest& ring, double before_ns, const std::vector<Interval>& calls,
                     double transfer_ns) {
  const size_t step = calls.size(), calls_before = ring.copier == Copier::sms ? 1 : 2;
  const double free_ns = step < calls_before ? 0 : calls[step - calls_before].end_ns;
  return std::max(before_ns, free_ns) + transfer_ns;
}

/// The backward pass. Each call finds nothing in L2: what runs between two main kernels streams
/// more than that through it.
template <class Replay>
std::vector<RingStep> replay_gradients(const RingRequest& ring, const Gpu& gpu, int64_t rank) {
  require(!Replay::knows_time || gpu.dram_gb_per_s.has_value(),
          "ring: with pass = backward and timing = timed needs dram-gb-per-s of the gpu's profile");
  const Problem& problem = ring.request.problem;
  const int64_t ranks = ring.ring.ranks;
  const int64_t kv_bytes =
      problem.batch * problem.kv_heads * ring.ring.rank_rows() * problem.row_bytes();
  const double kv_ns = ranks == 1 ? 0 : transfer_ns(ring.link, kv_bytes);
  std::vector<RingStep> steps;
  std::vector<Interval> calls;
  PowerLimit power;
  double arrival_ns = 0;
  for (int64_t step = 0; step < ranks; ++step) {
    if (step > 0) arrival_ns = arrival_after(ring, arrival_ns, calls, kv_ns);
    const double now_ns = step == 0 ? 0 : calls.back().end_ns;
    const double begin_ns = std::max(now_ns, arrival_ns);
    double end_ns = begin_ns;
    RingStep& done = steps.emplace_back();
    const Request call = step_request(ring, rank, step);
    if (call.problem.seq_q > 0) {
      Replay replay(ring, gpu, rank);
      LinkTraffic nothing(1, 1, replay.has_pairs(), ring.copier);
      const double main_ns = replay.run(call, 0, nothing);
      const auto tile_visits = replay.tile_visits();
      done = counted(replay.tallies(), Tallies{}, ring.request.bulk_loads);
      done.tile_visits = tile_visits;
      if constexpr (Replay::knows_time) {
        if (step == 0) replay.add_launch(done.total);
        power = replay.power();
      }
      end_ns += main_ns;
    }
    const auto streams = gradient_streams(ring, rank, step);
    for (size_t t = 0; t < streams.size(); ++t) {
      add(done.by_tensor[t], streams[t]);
      add(done.total, streams[t]);
    }
    const bool is_last = step + 1 == ranks;
    const int64_t returned = returned_bytes(ring, rank, step);
    const double return_ns = returned == 0 ? 0 : transfer_ns(ring.link, returned);
    done.transfer_us = (step == 0 ? return_ns : kv_ns + return_ns) / ns_a_us;
    if constexpr (Replay::knows_time) {
      const double added = is_last ? double(added_bytes(ring, rank, step)) : 0;
      const double dram_bytes_a_ns = *gpu.dram_gb_per_s;
      end_ns += (double(streamed_bytes(streams)) - added) / dram_bytes_a_ns;
      done.time_us = (end_ns - begin_ns) / ns_a_us;
      done.exposed_us = (begin_ns - now_ns) / ns_a_us;
      if (is_last) *done.exposed_us += (return_ns + added / dram_bytes_a_ns) / ns_a_us;
    }
    calls.push_back({begin_ns, end_ns});
  }
  if constexpr (Replay::knows_time) slow_down(steps, calls, power, ring.request.load, rank);
  return steps;
}

}  // namespace

Request step_request(const RingRequest& ring, int64_t rank, int64_t step) {
  Request request = rank_request(ring, rank);
  RingCall call;
  if (!ring.ring.call_of(rank, step, call)) call.q_rows = {};
  request.problem.seq_q = call.q_rows.size();
  request.problem.seq_kv = call.kv_rows.size();
  request.problem.mask = {call.mask, 0};
  if (ring.ring.ranks > 1 && !is_backward(ring))
    request.running = {.on = true, .begins = call.begins, .finishes = call.finishes};
  return request;
}

std::vector<RingStep> simulate_rank(const RingRequest& ring, const Gpu& gpu, int64_t rank) {
  check(ring);
  const bool timed = ring.request.timing == Timing::timed;
  if (is_backward(ring))
    return timed ? replay_gradients<TimedRank>(ring, gpu, rank)
                 : replay_gradients<LockstepRank>(ring, gpu, rank);
  return timed ? replay<TimedRank>(ring, gpu, rank) : replay<LockstepRank>(ring, gpu, rank);
}

}  // namespace sawtooth::sim
