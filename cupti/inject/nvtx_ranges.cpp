#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include <nvtx3/nvToolsExt.h>

#include "cupti/inject/pass_file.hpp"

namespace sawtooth::inject {
namespace {

struct PushedRange {
  nvtxDomainHandle_t domain;
  std::string name;
};

// Never freed: threads of the program may go on while it ends.
std::vector<PushedRange>& pushed() {
  thread_local auto* ranges = new std::vector<PushedRange>;
  return *ranges;
}

struct Started {
  std::mutex mutex;
  std::map<nvtxRangeId_t, std::string> ranges;
  nvtxRangeId_t last = 0;
};
Started& started() {
  static auto* all = new Started;
  return *all;
}

std::string text_of(const nvtxEventAttributes_t* event) {
  if (event == nullptr) return "";
  if (event->messageType == NVTX_MESSAGE_TYPE_ASCII && event->message.ascii != nullptr)
    return event->message.ascii;
  if (event->messageType == NVTX_MESSAGE_TYPE_REGISTERED && event->message.registered != nullptr)
    return *reinterpret_cast<const std::string*>(event->message.registered);
  return "";
}

int push_in(nvtxDomainHandle_t domain, std::string name) {
  pushed().push_back({domain, std::move(name)});
  return static_cast<int>(pushed().size()) - 1;
}

int pop_in(nvtxDomainHandle_t domain) {
  std::vector<PushedRange>& ranges = pushed();
  const auto last = std::find_if(ranges.rbegin(), ranges.rend(),
                                 [&](const PushedRange& range) { return range.domain == domain; });
  if (last == ranges.rend()) return NVTX_NO_PUSH_POP_TRACKING;
  ranges.erase(std::next(last).base());
  return static_cast<int>(ranges.size());
}

nvtxRangeId_t start(std::string name) {
  Started& all = started();
  const std::lock_guard lock(all.mutex);
  all.ranges[++all.last] = std::move(name);
  return all.last;
}

void end(nvtxRangeId_t id) {
  Started& all = started();
  const std::lock_guard lock(all.mutex);
  all.ranges.erase(id);
}

struct Entry {
  unsigned id;
  NvtxFunctionPointer function;
};

/// `function` is one, or a lambda without captures.
template <class Function>
Entry entry(unsigned id, Function function) {
  return {id, reinterpret_cast<NvtxFunctionPointer>(+function)};
}

void fill(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module,
          const std::vector<Entry>& entries) {
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr) return;
  for (const Entry& one : entries)
    if (one.id < size) *table[one.id] = one.function;
}

}  // namespace

bool nvtx_range_open(const std::string& name) {
  const auto is_it = [&](const PushedRange& range) { return range.name == name; };
  if (std::any_of(pushed().begin(), pushed().end(), is_it)) return true;
  Started& all = started();
  const std::lock_guard lock(all.mutex);
  return std::any_of(all.ranges.begin(), all.ranges.end(),
                     [&](const auto& range) { return range.second == name; });
}

}  // namespace sawtooth::inject

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_export_table) {
  using namespace sawtooth::inject;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr) return 0;
  fill(*callbacks, NVTX_CB_MODULE_CORE,
       {entry(NVTX_CBID_CORE_RangePushA, [](const char* name) { return push_in(nullptr, name); }),
        entry(NVTX_CBID_CORE_RangePushEx,
              [](const nvtxEventAttributes_t* event) { return push_in(nullptr, text_of(event)); }),
        entry(NVTX_CBID_CORE_RangePushW, [](const wchar_t*) { return push_in(nullptr, ""); }),
        entry(NVTX_CBID_CORE_RangePop, []() { return pop_in(nullptr); }),
        entry(NVTX_CBID_CORE_RangeStartA, [](const char* name) { return start(name); }),
        entry(NVTX_CBID_CORE_RangeStartEx,
              [](const nvtxEventAttributes_t* event) { return start(text_of(event)); }),
        entry(NVTX_CBID_CORE_RangeEnd, end)});
  fill(
      *callbacks, NVTX_CB_MODULE_CORE2,
      {entry(NVTX_CBID_CORE2_DomainRangePushEx,
             [](nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
               return push_in(domain, text_of(event));
             }),
       entry(NVTX_CBID_CORE2_DomainRangePop,
             [](nvtxDomainHandle_t domain) { return pop_in(domain); }),
       entry(NVTX_CBID_CORE2_DomainRangeStartEx,
             [](nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
               return start(text_of(event));
             }),
       entry(NVTX_CBID_CORE2_DomainRangeEnd, [](nvtxDomainHandle_t, nvtxRangeId_t id) { end(id); }),
       entry(NVTX_CBID_CORE2_DomainRegisterStringA,
             [](nvtxDomainHandle_t, const char* name) {
               return reinterpret_cast<nvtxStringHandle_t>(new std::string(name));
             }),
       entry(NVTX_CBID_CORE2_DomainCreateA,
             [](const char*) { return reinterpret_cast<nvtxDomainHandle_t>(new char); })});
  return 1;
}
