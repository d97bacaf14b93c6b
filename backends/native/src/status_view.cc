#include "status_view.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace aasm::backend_native {

using schema::Result;

Result<StatusView> StatusView::create() {
  process::Fd fd = AASM_TRY(process::make_memfd("aasm-status"));
  if (::ftruncate(fd.get(), wire::kStatusSize) != 0) {
    return process::system_error("sizing the status page", errno);
  }
  // Whoever maps it can rely on its size: no access ends in SIGBUS.
  AASM_TRY(process::add_seals(fd.borrow(), F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL));
  void* memory =
      ::mmap(nullptr, wire::kStatusSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) {
    return process::system_error("mapping the status page", errno);
  }
  auto* page = static_cast<wire::StatusPage*>(memory);
  page->magic = wire::kStatusMagic;
  page->version = wire::kStatusVersion;
  page->size = wire::kStatusSize;
  page->listener_fd = -1;
  for (auto& result : page->results) {
    result = {wire::kNotAttempted, wire::kNotAttempted};
  }
  return StatusView(std::move(fd), page);
}

StatusView::StatusView(StatusView&& other) noexcept
    : fd_(std::move(other.fd_)), page_(std::exchange(other.page_, nullptr)) {}

StatusView& StatusView::operator=(StatusView&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(page_, other.page_);
  return *this;
}

StatusView::~StatusView() {
  if (page_ != nullptr) {
    ::munmap(page_, wire::kStatusSize);
  }
}

wire::StepState StatusView::state(wire::Step step) const {
  return static_cast<wire::StepState>(load(page_->steps[static_cast<std::size_t>(step)].state));
}

wire::StepReport StatusView::report(wire::Step step) const {
  const auto& slot = page_->steps[static_cast<std::size_t>(step)];
  wire::StepReport copy = {};
  copy.state = load(slot.state);  // first: it orders what follows
  copy.os_errno = load(slot.os_errno);
  copy.detail = load(slot.detail);
  return copy;
}

std::optional<wire::Step> StatusView::failed_step() const {
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(wire::Step::kCount); ++i) {
    const auto step = static_cast<wire::Step>(i);
    if (state(step) == wire::StepState::kFailed) {
      return step;
    }
  }
  return std::nullopt;
}

wire::ScriptResult StatusView::script_result(std::size_t index) const {
  if (index >= wire::kMaxScriptEntries) {
    return {wire::kNotAttempted, wire::kNotAttempted};
  }
  return {load(page_->results[index].control), load(page_->results[index].inside)};
}

}  // namespace aasm::backend_native
