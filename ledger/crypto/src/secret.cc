#include "aasm/crypto/secret.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace aasm::crypto {
namespace {

// Stands behind the seed while there is one. WIPEONFORK zeroes it with the rest of the page, so a
// child cannot mistake the zeros it sees for a seed.
constexpr std::uint8_t kLiveMark = 0xA5;

schema::Error page_error(const char* what, int os_errno) {
  return {schema::ErrorCode::kUnsupported, std::string("secret page: ") + what, os_errno};
}

}  // namespace

void wipe_bytes(std::span<std::uint8_t> bytes) {
  if (!bytes.empty()) {
    ::explicit_bzero(bytes.data(), bytes.size());
  }
}

schema::Result<SecretPage> SecretPage::create() {
  const auto size_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* memory =
      ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    const int error = errno;
    return schema::Error(schema::ErrorCode::kResourceExhausted, "secret page: mmap", error);
  }
  SecretPage page(static_cast<std::uint8_t*>(memory), size_bytes, false);
  if (::madvise(memory, size_bytes, MADV_DONTDUMP) != 0) {
    return page_error("MADV_DONTDUMP", errno);
  }
  if (::madvise(memory, size_bytes, MADV_WIPEONFORK) != 0) {
    return page_error("MADV_WIPEONFORK", errno);
  }
  page.locked_ = ::mlock(memory, size_bytes) == 0;
  return page;
}

SecretPage::~SecretPage() {
  release();
}

SecretPage::SecretPage(SecretPage&& other) noexcept
    : page_(std::exchange(other.page_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      locked_(std::exchange(other.locked_, false)) {}

SecretPage& SecretPage::operator=(SecretPage&& other) noexcept {
  if (this != &other) {
    release();
    page_ = std::exchange(other.page_, nullptr);
    size_bytes_ = std::exchange(other.size_bytes_, 0);
    locked_ = std::exchange(other.locked_, false);
  }
  return *this;
}

void SecretPage::release() {
  if (page_ == nullptr) {
    return;
  }
  wipe();
  // munmap also unlocks. It cannot fail for a mapping we made and never split.
  ::munmap(page_, size_bytes_);
  page_ = nullptr;
}

void SecretPage::set(std::span<const std::uint8_t, kSeedBytes> seed) {
  if (page_ == nullptr) {
    std::abort();
  }
  std::copy(seed.begin(), seed.end(), page_);
  page_[kSeedBytes] = kLiveMark;
}

std::span<const std::uint8_t, SecretPage::kSeedBytes> SecretPage::seed() const {
  if (!live()) {
    std::abort();
  }
  return std::span<const std::uint8_t, kSeedBytes>(page_, kSeedBytes);
}

bool SecretPage::live() const {
  return page_ != nullptr && page_[kSeedBytes] == kLiveMark;
}

void SecretPage::wipe() {
  if (page_ != nullptr) {
    wipe_bytes({page_, kSeedBytes + 1});
  }
}

}  // namespace aasm::crypto
