#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "aasm/wire/script.h"

#include "helper_frame.h"

namespace aasm::test {

// Collects a script and the strings it points to.
class ScriptCalls {
 public:
  struct Arg {
    wire::ArgKind kind;
    std::uint64_t value;
  };

  Arg text(const std::string& string) {
    const Arg arg = {wire::ArgKind::kData, data_.size()};
    data_ += string + '\0';
    return arg;
  }

  // Appends a call and returns its index.
  std::uint32_t add(long number, std::initializer_list<Arg> args,
                    std::uint8_t when = wire::kWhenControl | wire::kWhenInside) {
    wire::ScriptEntry entry = {};
    entry.number = static_cast<std::uint32_t>(number);
    entry.when = when;
    std::size_t i = 0;
    for (const Arg& arg : args) {
      entry.arg_kinds[i] = static_cast<std::uint8_t>(arg.kind);
      entry.args[i++] = arg.value;
    }
    entries_.push_back(entry);
    return static_cast<std::uint32_t>(entries_.size() - 1);
  }

  wire::ScriptEntry& last() { return entries_.back(); }

  void fill(backend_native::FrameSpec& spec) const {
    spec.script = entries_;
    spec.script_data = data_;
  }

 private:
  std::vector<wire::ScriptEntry> entries_;
  std::string data_;
};

}  // namespace aasm::test
