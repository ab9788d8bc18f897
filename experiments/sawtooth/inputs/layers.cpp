#include "experiments/sawtooth/inputs/layers.hpp"

#include "experiments/sawtooth/inputs/point.hpp"
#include "experiments/sawtooth/support/usage_error.hpp"

namespace sawtooth::experiments {

Layers::Layers(const Settings& given, Catalog& catalog) : given_(given) {
  const SystemFile* system =
      given.contains("system") ? &catalog.system(given.at("system")) : nullptr;
  has_system_ = system != nullptr;
  if (has_system_) merged_ = system->settings;
  overlay(merged_, given);
  complete_problem();
  if (!has_system_) return;
  // Guards see the problem that all layers give together.
  preset_ = system->settings;
  overlay(preset_, guarded_settings(*system, merged_));
  merged_ = preset_;
  overlay(merged_, given);
  complete_problem();
}

void Layers::fail(const std::string& key, const std::string& what) const {
  const auto found = merged_.find(key);
  const bool written = found != merged_.end() && found->second.origin.file != "default";
  throw Refusal((written ? place_of(key, found->second.origin) : key) + ": " + what);
}

Keys Layers::keys() const {
  Keys keys;
  for (const OptionSpec& option : option_table()) {
    if (option.field.read == nullptr) continue;
    const auto found = merged_.find(option.key);
    if (found != merged_.end())
      option.field.read(found->second.values.front(), keys);
    else if (!option.default_text.empty())
      option.field.read(option.default_text, keys);
  }
  return keys;
}

void Layers::refuse(std::string_view key, const std::string& what) const {
  throw UsageError(place_of(std::string(key), merged_.find(key)->second.origin) + ": " + what);
}

void Layers::complete_problem() {
  for_each_feature([&]<class Feature>(Feature*) {
    if constexpr (requires { Feature::complete_text(*this); }) Feature::complete_text(*this);
  });
  for (const char* key : {"seq-q", "seq-kv"}) {
    if (has(key)) continue;
    if (!has("seq")) {
      throw UsageError(std::string("seq: not given; give seq, or seq-q and seq-kv (") + key +
                       " is missing)");
    }
    set_if_missing(key, merged_.at("seq").values.front());
  }
  for (const OptionSpec& option : option_table())
    if (option.group == OptionGroup::problem && !option.default_text.empty())
      set_if_missing(option.key, option.default_text);
  set_if_missing("kv-heads", std::string(merged_.at("heads").values.front()));
}

}  // namespace sawtooth::experiments
