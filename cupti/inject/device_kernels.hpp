// The three small kernels of the injected library, as PTX that any driver from CUDA 11 on compiles:
// the library needs no CUDA compiler and no runtime. tests/cupti assembles them.
//   sawtooth_write, sawtooth_read (data, 16-byte vectors): the flush of kernels/stream/l2_state.cu
//   sawtooth_wait (ns): holds its CTAs for that long and touches no memory
#pragma once

namespace sawtooth::inject {

inline constexpr char device_kernels[] = R"(
.version 7.0
.target sm_75
.address_size 64

.visible .entry sawtooth_write(.param .u64 data, .param .u64 vectors)
{
  .reg .pred %p;
  .reg .b32 %zero, %one, %size, %cta, %ctas, %lane;
  .reg .b64 %data, %vectors, %i, %stride, %thread, %at;
  ld.param.u64 %data, [data];
  ld.param.u64 %vectors, [vectors];
  cvta.to.global.u64 %data, %data;
  mov.u32 %zero, 0;
  mov.u32 %one, 1;
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
  st.global.v4.u32 [%at], {%one, %zero, %zero, %zero};
  add.u64 %i, %i, %stride;
  bra next;
done:
  ret;
}

.visible .entry sawtooth_read(.param .u64 data, .param .u64 vectors)
{
  .reg .pred %p;
  .reg .b32 %a, %b, %c, %d, %sum, %size, %cta, %ctas, %lane;
  .reg .b64 %data, %vectors, %i, %stride, %thread, %at;
  ld.param.u64 %data, [data];
  ld.param.u64 %vectors, [vectors];
  cvta.to.global.u64 %data, %data;
  mov.u32 %sum, 0;
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
  ld.global.cg.v4.u32 {%a, %b, %c, %d}, [%at];
  or.b32 %sum, %sum, %b;
  add.u64 %i, %i, %stride;
  bra next;
done:
  setp.eq.s32 %p, %sum, 0;
  @%p bra end;
  st.global.u32 [%data], %sum;
end:
  ret;
}

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

}  // namespace sawtooth::inject
