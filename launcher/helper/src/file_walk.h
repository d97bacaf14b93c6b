#pragma once

#include "aasm/wire/broker_file.h"

#include "sys.h"

// Looking names up as the caller's kernel would, for a process that is not the caller.
namespace aasm::helper {

// Where a name's last component is, or would be. Owns `parent`.
struct Place {
  int parent = -1;
  char last[wire::kMaxBrokerLast] = {};  // may end in a slash
  bool through_link = false;    // `last` is a link of proc(5) that only the kernel can follow
  bool beyond_process = false;  // `parent` was reached by such a link
  bool looked_at = false;       // `found` holds, or there is nothing of that name
  bool exists = false;
  wire::BrokerPlace found = {};
};

// How a name is read.
struct Reading {
  int start;         // where a relative name begins; -1: it is absolute
  bool follow;       // a link in the last place
  bool creates;      // the name may be new: "new/" is then not the directory "new"
  uint32_t process;  // the caller, which /proc/self and /proc/thread-self stand for
  uint32_t thread;
  const uint32_t* own;  // processes of which proc(5) has nothing for this call; null: ours alone
};

inline constexpr uint32_t kNumOwn = 2;

// In place of an errno: the name leads to something of proc(5) that is about us.
inline constexpr long kOurs = -4098;

inline constexpr uint32_t kMaxName = 4096;  // PATH_MAX
inline constexpr uint32_t kMaxWalk = 3 * kMaxName;

// Buffers of one walk; too large for the stack of a call's thread.
struct WalkText {
  char rest[kMaxWalk];
  char ahead[kMaxWalk];
  bool jumped;  // so far, along a link that only the kernel can follow
};

// Finds the place of `name`. Returns 0 or a negative errno; then `place` has nothing open.
long find_place(const Reading& reading, const char* name, WalkText& text, Place& place);

// What a descriptor or a name below one is: device, inode, mode. 0 or a negative errno.
long look_at(int directory, const char* name, int flags, wire::BrokerPlace& found);

// Whether a name ends in a slash, "." or "..", so that it can only mean a directory.
bool ends_as_directory(const char* name);

// Whether the descriptor is of a proc(5) filesystem.
bool on_proc(int fd);

}  // namespace aasm::helper
