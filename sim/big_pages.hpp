// Large tables in pages of 2 MiB, where the system has them: their first touches cost less, and
// random reads miss fewer translations of addresses.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace sawtooth::sim {

template <class T>
struct BigPages {
  using value_type = T;
  BigPages() = default;
  template <class Other>
  explicit BigPages(const BigPages<Other>&) {}

  T* allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    if (bytes < least_bytes) return std::allocator<T>().allocate(count);
    void* memory = ::operator new (bytes, std::align_val_t{page_bytes});
#if defined(__linux__)
    madvise(memory, bytes, MADV_HUGEPAGE);  // only a wish: nothing to do where it is refused
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, size_t count) {
    if (count * sizeof(T) < least_bytes) return std::allocator<T>().deallocate(memory, count);
    ::operator delete (memory, std::align_val_t{page_bytes});
  }

  friend bool operator==(const BigPages&, const BigPages&) {
    return true;
  }

 private:
  static constexpr size_t page_bytes = size_t{1} << 21;
  static constexpr size_t least_bytes = 4 * page_bytes;  // less is not worth a part of a page
};

template <class T>
using BigVector = std::vector<T, BigPages<T>>;

}  // namespace sawtooth::sim
