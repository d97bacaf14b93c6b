#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <vector>

#include "aasm/schema/digest.h"
#include "aasm/schema/record_boundary.h"

#include "filter_spec.h"

// The seccomp filter program: number ranges as a search tree, a few argument tests, two actions
// (allow; notify the supervisor). seccomp(2).
namespace aasm::backend_native {

// Values of argument registers the program and classify.cc judge alike.
inline constexpr std::uint32_t kIoctlTiocsti = 0x5412;       // asm-generic/ioctls.h
inline constexpr std::uint32_t kIoctlTioclinux = 0x541C;     // asm-generic/ioctls.h
inline constexpr std::uint32_t kCloneNewFlags = 0x7E020000;  // CLONE_NEW* that clone(2) takes
inline constexpr std::uint32_t kCloneThread = 0x00010000;    // CLONE_THREAD
inline constexpr std::uint32_t kPrctlSetDumpable = 4;        // linux/prctl.h
inline constexpr std::uint32_t kPrctlSetSeccomp = 22;        // linux/prctl.h
inline constexpr std::uint32_t kPrctlSetMm = 35;             // linux/prctl.h
inline constexpr std::uint32_t kSeccompSetModeFilter = 1;    // SET_MODE_STRICT is 0
inline constexpr std::uint32_t kExecveCheck = 0x00010000;    // AT_EXECVE_CHECK, Linux 6.14
inline constexpr std::uint32_t kFastOpen = 0x20000000;       // MSG_FASTOPEN
inline constexpr std::uint32_t kOpenReference = 0x00200000;  // O_PATH: nothing but a reference
inline constexpr std::uint32_t kOpenWrites =
    0x00400000 | 01103;  // O_TMPFILE's own bit, O_CREAT, O_TRUNC, O_WRONLY, O_RDWR

// The program for `spec`. Another architecture's calls and numbers with the x32 bit are notified.
// Every number that decides differently from its neighbour costs two instructions, so a program
// stays far below the kernel's 4096.
std::vector<sock_filter> build_filter(const FilterSpec& spec);

// The instructions as the digest of SeccompDetail covers them: 8 bytes each, little endian.
schema::Bytes filter_bytes(std::span<const sock_filter> program);

// The record's description of the control.
schema::SeccompDetail seccomp_detail(const FilterSpec& spec, std::span<const sock_filter> program);

}  // namespace aasm::backend_native
