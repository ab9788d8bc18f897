// Runs a kernel's own code on the CPU, one CTA at a time: each thread is a
// fiber that runs until it waits at a barrier. Collective instructions of a
// warp exchange their operands in its mailbox. What this does not show: races
// between barriers, and what the hardware does otherwise than PTX says.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include <ucontext.h>

namespace sawtooth::kernels {
// What kernels declare as their dynamic shared memory; the test that includes
// this defines it.
inline constexpr int emulated_shared_bytes = 1 << 18;
extern unsigned char raw[emulated_shared_bytes];
}  // namespace sawtooth::kernels

namespace sawtooth::emulated {

inline constexpr int warp_threads = 32;

struct Barrier {
  int expected = 0;
  int waiting = 0;
  int64_t passed = 0;
};

struct Warp {
  Barrier barrier;
  uint32_t mailbox[warp_threads][8];
};

class Cta {
 public:
  /// Runs `kernel` as CTA `number` of `ctas` with shared memory of NaN.
  void run(int threads, unsigned number, unsigned ctas, std::function<void()> kernel) {
    number_ = number;
    ctas_ = ctas;
    kernel_ = std::move(kernel);
    std::memset(shared, 0xff, kernels::emulated_shared_bytes);
    barrier_ = {.expected = threads};
    named_.fill({});
    warps_.assign(size_t(threads / warp_threads), {});
    for (Warp& warp : warps_) warp.barrier.expected = warp_threads;
    fibers_.resize(size_t(threads));
    for (Fiber& fiber : fibers_) {
      fiber.stack.resize(stack_bytes);
      fiber.done = false;
      getcontext(&fiber.context);
      fiber.context.uc_stack = {.ss_sp = fiber.stack.data(), .ss_flags = 0, .ss_size = stack_bytes};
      makecontext(&fiber.context, run_thread, 0);
    }
    thread_ = 0;
    swapcontext(&caller_, &fibers_[0].context);
  }

  int thread() const { return thread_; }
  int lane() const { return thread_ % warp_threads; }
  unsigned number() const { return number_; }
  unsigned ctas() const { return ctas_; }
  Warp& warp() { return warps_[size_t(thread_ / warp_threads)]; }
  void wait_for_all() { wait(barrier_); }
  void wait_for_warp() { wait(warp().barrier); }
  /// `threads` threads wait for the barrier of this number.
  void wait_for_named(int number, int threads) {
    Barrier& barrier = named_[size_t(number)];
    barrier.expected = threads;
    wait(barrier);
  }
  /// Lets other threads run until `done()`.
  template <class Done>
  void wait_until(Done done) {
    while (!done()) go_on_elsewhere();
  }

  unsigned char* const shared = kernels::raw;

 private:
  static constexpr size_t stack_bytes = 1 << 18;
  struct Fiber {
    ucontext_t context;
    std::vector<char> stack;
    bool done = false;
  };

  void wait(Barrier& barrier) {
    const int64_t passed = barrier.passed;
    if (++barrier.waiting == barrier.expected) {
      barrier.waiting = 0;
      ++barrier.passed;
      return;
    }
    wait_until([&] { return barrier.passed != passed; });
  }
  void go_on_elsewhere() {
    const int here = thread_;
    thread_ = next();
    swapcontext(&fibers_[size_t(here)].context, &fibers_[size_t(thread_)].context);
  }
  /// The next thread that has not ended, or this one.
  int next() const {
    const int threads = int(fibers_.size());
    int thread = thread_;
    do thread = (thread + 1) % threads;
    while (fibers_[size_t(thread)].done && thread != thread_);
    return thread;
  }
  static void run_thread();

  int thread_ = 0;
  unsigned number_ = 0, ctas_ = 1;
  std::function<void()> kernel_;
  Barrier barrier_;
  std::array<Barrier, 16> named_;
  std::vector<Warp> warps_;
  std::vector<Fiber> fibers_;
  ucontext_t caller_;
};

inline Cta cta;

inline void Cta::run_thread() {
  cta.kernel_();
  Fiber& ended = cta.fibers_[size_t(cta.thread_)];
  ended.done = true;
  const int next = cta.next();
  if (cta.fibers_[size_t(next)].done) setcontext(&cta.caller_);
  cta.thread_ = next;
  setcontext(&cta.fibers_[size_t(next)].context);
}

}  // namespace sawtooth::emulated
