// NVTX ranges that are open, seen by being the library that NVTX loads (NVTX_INJECTION64_PATH), so
// that --nvtx needs no CUPTI. Ranges of all domains are taken alike. Names in wide characters are
// not read.
// Source: nvtx3/nvtxDetail/nvtxInit.h, "InitializeInjectionNvtx2".
#pragma once

#include <string>

namespace sawtooth::inject {

/// Whether a range of this name is open: pushed on this thread, or started on any.
bool nvtx_range_open(const std::string& name);

}  // namespace sawtooth::inject
