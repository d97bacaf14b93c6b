#pragma once

#include <string>

#include "aasm/process/fd.h"

#include "canary.h"

namespace aasm::backend_native {

// Objects of the supervisor that canaries of ipc try to reach: a datagram socket with a path, one
// with an abstract name, and a piece of shared memory that only this process keeps. What cannot be
// had on this host is empty. The path is gone with the value.
class IpcCanaryObjects {
 public:
  IpcCanaryObjects() = default;
  // Makes those that `spec` states something about. Removes from `directory` what supervisors that
  // were killed have left there.
  IpcCanaryObjects(const IpcSpec& spec, const std::string& directory);
  IpcCanaryObjects(IpcCanaryObjects&& other) noexcept;
  IpcCanaryObjects& operator=(IpcCanaryObjects&& other) noexcept;
  IpcCanaryObjects(const IpcCanaryObjects&) = delete;
  IpcCanaryObjects& operator=(const IpcCanaryObjects&) = delete;
  ~IpcCanaryObjects();

  const IpcCanaryNames& names() const { return names_; }

 private:
  void bind_path(const std::string& directory);
  void bind_abstract();
  void make_memory();

  process::Fd path_socket_;
  process::Fd abstract_socket_;
  std::string path_;
  void* memory_ = nullptr;
  IpcCanaryNames names_;
};

// Adds to `plan` what watches each stated part of context.filter.ipc.
void add_ipc_canaries(const CanaryContext& context, CanaryPlan& plan);

}  // namespace aasm::backend_native
