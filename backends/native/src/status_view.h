#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "aasm/process/fd.h"
#include "aasm/schema/result.h"
#include "aasm/wire/status_page.h"

namespace aasm::backend_native {

// The supervisor's side of the status page (aasm/wire/status_page.h): makes it, maps it, reads it.
// The helper may store at any time; what a step stored is visible once its state says done or
// failed.
class StatusView {
 public:
  static schema::Result<StatusView> create();

  StatusView(StatusView&& other) noexcept;
  StatusView& operator=(StatusView&& other) noexcept;
  StatusView(const StatusView&) = delete;
  StatusView& operator=(const StatusView&) = delete;
  ~StatusView();

  process::BorrowedFd fd() const { return fd_.borrow(); }

  wire::StepState state(wire::Step step) const;
  wire::StepReport report(wire::Step step) const;

  // The first step that failed, if one did.
  std::optional<wire::Step> failed_step() const;

  wire::ScriptResult script_result(std::size_t index) const;

  int warden_pid() const { return load(page_->warden_pid); }
  int inside_pid() const { return load(page_->inside_pid); }
  int listener_fd() const { return load(page_->listener_fd); }
  int broker_pid() const { return load(page_->broker_pid); }
  int exec_errno() const { return load(page_->exec_errno); }

 private:
  StatusView(process::Fd fd, wire::StatusPage* page) : fd_(std::move(fd)), page_(page) {}

  template <class T>
  static T load(const T& field) {
    return __atomic_load_n(&field, __ATOMIC_ACQUIRE);
  }

  process::Fd fd_;
  wire::StatusPage* page_ = nullptr;
};

}  // namespace aasm::backend_native
