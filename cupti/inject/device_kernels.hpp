// The three small kernels of the injected library, as PTX that any driver from CUDA 11 on compiles:
// the library needs no CUDA compiler and no runtime. tests/cupti/inject assembles them.
//   sawtooth_write, sawtooth_read (data, 16-byte vectors): the flush of kernels/stream/l2_state.cu
//   sawtooth_wait (ns): holds its CTAs for that long and touches no memory
#pragma once

#include <string>

namespace sawtooth::inject {

/// A module of the three kernels, for sm_75 and later.
inline std::string device_kernels() {
  const std::string head = R"(
.version 7.0
.target sm_75
.address_size 64
)";
  // %i becomes the thread's first vector, %stride what all threads take at once; a loop over
  // vectors follows, with the vector's address in %at, and `next_vector` closes it.
  const std::string each_vector = R"(
  .reg .pred %p;
  .reg .b32 %size, %cta, %ctas, %lane;
  .reg .b64 %data, %vectors, %i, %stride, %thread, %at;
  ld.param.u64 %data, [data];
  ld.param.u64 %vectors, [vectors];
  cvta.to.global.u64 %data, %data;
  mov.u32 %size, %ntid.x;
  mov.u32 %cta, %ctaid.x;
  mov.u32 %ctas, %nctaid.x;
  mov.u32 %lane, %tid.x;
  mul.wide.u32 %i, %cta, %size;
  cvt.u64.u32 %thread, %lane;
  add.u64 %i, %i, %thread;
  mul.wide.u32 %stride, %ctas, %size;
next:
  setp.ge.u64 %p, %i, %vectors;
  @%p bra done;
  shl.b64 %at, %i, 4;
  add.u64 %at, %data, %at;
)";
  const std::string next_vector = R"(
  add.u64 %i, %i, %stride;
  bra next;
done:
)";
  const std::string write = R"(
.visible .entry sawtooth_write(.param .u64 data, .param .u64 vectors)
{
  .reg .b32 %zero, %one;
  mov.u32 %zero, 0;
  mov.u32 %one, 1;
)" + each_vector + R"(
  st.global.v4.u32 [%at], {%one, %zero, %zero, %zero};
)" + next_vector + R"(
  ret;
}
)";
  const std::string read = R"(
.visible .entry sawtooth_read(.param .u64 data, .param .u64 vectors)
{
  .reg .b32 %a, %b, %c, %d, %sum;
  mov.u32 %sum, 0;
)" + each_vector + R"(
  ld.global.cg.v4.u32 {%a, %b, %c, %d}, [%at];
  or.b32 %sum, %sum, %b;
)" + next_vector + R"(
  setp.eq.s32 %p, %sum, 0;
  @%p bra end;
  st.global.u32 [%data], %sum;
end:
  ret;
}
)";
  const std::string wait = R"(
.visible .entry sawtooth_wait(.param .u64 ns)
{
  .reg .pred %p;
  .reg .b64 %ns, %begin, %now;
  ld.param.u64 %ns, [ns];
  mov.u64 %begin, %globaltimer;
again:
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %begin;
  setp.lt.u64 %p, %now, %ns;
  @%p bra again;
  ret;
}
)";
  return head + write + read + wait;
}

}  // namespace sawtooth::inject
