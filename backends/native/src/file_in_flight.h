#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file_calls.h"

namespace aasm::backend_native {

// One call on its way. Lives from its notification to its end.
struct FileCalls::InFlight : BrokeredCall {
  FileRequest request;
  std::string first_name;  // as the caller wrote it
  std::string second_name;
  process::Fd first_start;
  process::Fd second_start;
  // What was judged, while it is acted on.
  process::Fd held_first;
  process::Fd held_target;
  process::Fd held_second;
  FileCall described;
  bool judged_as_new = false;
  int turns = 0;
  process::Fd opened;

  // Puts request.call and the names into the order.
  void set_names(const std::string& first, const std::string& second, bool has_second) {
    request.call.first_size = static_cast<std::uint32_t>(first.size() + 1);
    request.call.second_size = has_second ? static_cast<std::uint32_t>(second.size() + 1) : 0;
    order.data = first + '\0';
    if (has_second) {
      order.data += second + '\0';
    }
    set_control();
  }

  // What attributes become, behind a name that means nothing.
  void set_payload() {
    request.call.first_size = 1;
    request.call.second_size = static_cast<std::uint32_t>(request.payload.size());
    order.data = '\0' + request.payload;
    set_control();
  }

  void set_control() {
    order.control.assign(reinterpret_cast<const char*>(&request.call), sizeof request.call);
  }
};

}  // namespace aasm::backend_native
