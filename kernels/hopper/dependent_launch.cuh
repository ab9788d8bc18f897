// The end of one launch under the beginning of the next. PTX ISA: "griddepcontrol"; CUDA C++
// Programming Guide: "Programmatic Dependent Launch and Synchronization".
//
// A launch with this attribute may begin while the launch before it in the stream still runs, as
// soon as all CTAs of that one have allowed it, and takes the SMs that become free. What it does
// before `wait_for_launch_before` must read and write nothing that other launches write or read.
#pragma once

namespace sawtooth::kernels::hopper {

/// On the device: the next launch of the stream may begin where it finds room.
__device__ inline void let_next_launch_begin() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
/// By every thread before its first access to global memory: all launches before are over.
__device__ inline void wait_for_launch_before() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

}  // namespace sawtooth::kernels::hopper
