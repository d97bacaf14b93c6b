#include "broker_call.h"

#include <linux/fcntl.h>
#include <linux/openat2.h>
#include <linux/stat.h>

#include "caller_rights.h"
#include "file_call.h"
#include "text.h"

namespace aasm::helper {

namespace {

constexpr long kEperm = 1;
constexpr long kEmfile = 24;

wire::BrokerKind kind_of(const BrokerCall& call) {
  return static_cast<wire::BrokerKind>(call.request.kind);
}

uint32_t control_offset(const BrokerCall& call) {
  return wire::broker_padded(call.request.num_groups * 4);
}
uint32_t name_offset(const BrokerCall& call) {
  return control_offset(call) + wire::broker_padded(call.request.control_size);
}
uint32_t data_offset(const BrokerCall& call) {
  return name_offset(call) + wire::broker_padded(call.request.name_size);
}

void answer(const BrokerCall& call, long result) {
  wire::BrokerReply reply = {};
  reply.result = result;
  send_reply(call, reply, {nullptr, 0}, nullptr, 0);
}

// The name to pass: the request's, or the path of the descriptor that stands for it.
struct Name {
  char bytes[wire::kMaxBrokerName];
  uint32_t size;
};

Name name_of(const BrokerCall& call) {
  Name name = {};
  if (has(call, wire::kBrokerTarget)) {
    Text path = {};
    path.add("/proc/self/fd/");
    path.add_number(call.fds[1]);
    name.bytes[0] = 1;  // AF_UNIX
    uint32_t i = 0;
    for (; i <= path.size; ++i) {
      name.bytes[2 + i] = path.bytes[i];
    }
    name.size = 2 + i;
    return name;
  }
  for (; name.size < call.request.name_size; ++name.size) {
    name.bytes[name.size] = call.payload[name_offset(call) + name.size];
  }
  return name;
}

// The request's control messages and one more with the descriptors to pass on.
size_t build_control(BrokerCall& call) {
  size_t size = 0;
  for (; size < call.request.control_size; ++size) {
    call.control[size] = call.payload[control_offset(call) + size];
  }
  size = wire::broker_padded(static_cast<uint32_t>(size));
  const uint32_t num_rights = call.request.num_rights;
  if (num_rights == 0) {
    return size;
  }
  // SAFETY: the buffer is aligned to eight and has room for the head and all descriptors.
  auto* head = reinterpret_cast<ControlHead*>(call.control + size);
  *head = {sizeof(ControlHead) + num_rights * sizeof(int), kSolSocket, kScmRights};
  auto* rights = reinterpret_cast<int*>(head + 1);
  for (uint32_t i = 0; i < num_rights; ++i) {
    rights[i] = call.fds[call.num_fds - num_rights + i];
  }
  return size + wire::broker_padded(static_cast<uint32_t>(head->size));
}

// One sendmsg(2) of what has not gone yet.
long send_rest(BrokerCall& call, unsigned more_flags) {
  Name name = name_of(call);
  Piece piece = {call.payload + data_offset(call) + call.done, call.request.data_size - call.done};
  const size_t control_size = call.done == 0 ? build_control(call) : 0;
  const Header header = {name.size == 0 ? nullptr : name.bytes,
                         static_cast<int>(name.size),
                         &piece,
                         1,
                         control_size == 0 ? nullptr : call.control,
                         control_size,
                         0};
  return send_header(call.fds[0], header, call.request.send_flags | kNoSignal | more_flags);
}

// Sends until all has gone, or it fails, or it would block. What has gone counts before an error.
long send_all(BrokerCall& call, unsigned more_flags) {
  for (;;) {
    const long result = send_rest(call, more_flags);
    if (result < 0) {
      return result;
    }
    call.done += static_cast<size_t>(result);
    if (!has(call, wire::kBrokerStream) || call.done >= call.request.data_size || result == 0) {
      return static_cast<long>(call.done);
    }
  }
}

// shmget(2), semget(2), msgget(2).
long make_memory(const BrokerCall& call) {
  const auto& request = call.request;
  uint64_t size = 0;
  if (request.name_size != sizeof(size)) {
    return -kEinval;
  }
  // SAFETY: sections begin at multiples of eight of a payload that is aligned to eight.
  size = *reinterpret_cast<const uint64_t*>(call.payload + name_offset(call));
  const auto flags = static_cast<long>(request.send_flags);
  switch (static_cast<wire::BrokerMemory>(request.mode_mask)) {
    case wire::BrokerMemory::kMemory:
      return raw_call(__NR_shmget, request.backlog, static_cast<long>(size), flags);
    case wire::BrokerMemory::kSemaphores:
      return raw_call(__NR_semget, request.backlog, static_cast<long>(size), flags);
    case wire::BrokerMemory::kMessages:
      return raw_call(__NR_msgget, request.backlog, flags);
  }
  return -kEinval;
}

long perform(BrokerCall& call, unsigned more_flags) {
  switch (kind_of(call)) {
    case wire::BrokerKind::kConnect: {
      const Name name = name_of(call);
      return raw_call(__NR_connect, call.fds[0], address(name.bytes), name.size);
    }
    case wire::BrokerKind::kBind: {
      const Name name = name_of(call);
      return raw_call(__NR_bind, call.fds[0], address(name.bytes), name.size);
    }
    case wire::BrokerKind::kListen:
      return raw_call(__NR_listen, call.fds[0], call.request.backlog);
    case wire::BrokerKind::kSend: {
      const long result = send_all(call, more_flags);
      return result < 0 && call.done > 0 ? static_cast<long>(call.done) : result;
    }
    case wire::BrokerKind::kMemory:
      return make_memory(call);
    case wire::BrokerKind::kCancel:
    case wire::BrokerKind::kFile:
      break;
  }
  return -kEinval;
}

// A link of proc(5) would lead somewhere else for us than for the caller, so there is no way
// through one.
long open_named(const char* path, uint64_t flags) {
  struct open_how how = {};
  how.flags = O_PATH | O_CLOEXEC | flags;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  return raw_call(__NR_openat2, AT_FDCWD, address(path), address(&how), sizeof(how));
}

// Passes the file on and says what it is; closes it.
void answer_with_file(const BrokerCall& call, long fd) {
  struct statx found = {};
  long result =
      raw_call(__NR_statx, fd, address(""), AT_EMPTY_PATH, STATX_BASIC_STATS, address(&found));
  Text link = {};
  link.add("/proc/self/fd/");
  link.add_number(fd);
  char path[wire::kMaxBrokerPath];
  if (result >= 0) {
    result = raw_call(__NR_readlinkat, AT_FDCWD, address(link.bytes), address(path), sizeof(path));
  }
  if (result < 0) {
    answer_fault(call, result);
  } else {
    wire::BrokerReply reply = {};
    reply.device = device_number(found.stx_dev_major, found.stx_dev_minor);
    reply.inode = found.stx_ino;
    reply.mode = found.stx_mode;
    const int found_fd = static_cast<int>(fd);
    send_reply(call, reply, {path, static_cast<size_t>(result)}, &found_fd, 1);
  }
  close_fd(static_cast<int>(fd));
}

// bind(2) makes a file and follows no link to do so. Somebody may have put another one in its place
// by now, which is the supervisor's to find out.
void bind_and_say_file(BrokerCall& call) {
  constexpr size_t kFamilySize = 2;
  const long result = perform(call, 0);
  const Name name = name_of(call);
  const bool ended = name.size > kFamilySize && name.size < sizeof(name.bytes);
  const long fd = result == 0 && ended ? open_named(name.bytes + kFamilySize, O_NOFOLLOW) : -1;
  if (fd < 0) {
    answer(call, result);
  } else {
    answer_with_file(call, fd);
  }
}

// Whether the socket itself is not to be waited for.
bool never_waits(const BrokerCall& call) {
  constexpr int kGetFlags = 3;
  const long flags = control_fd(call.fds[0], kGetFlags);
  return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

}  // namespace

bool check_request(const BrokerCall& call, long size) {
  const auto& request = call.request;
  const bool on_files = kind_of(call) == wire::BrokerKind::kFile;
  const bool alone = on_files || kind_of(call) == wire::BrokerKind::kMemory;
  const bool names =
      (request.flags & wire::kBrokerDirectory) != 0 || (request.flags & wire::kBrokerTarget) != 0;
  // The caller's socket and what a flag names.
  const uint32_t own = (alone ? 0U : 1U) + (names && !on_files ? 1U : 0U);
  const bool below = (request.flags & wire::kBrokerBelow) != 0;
  return size >= static_cast<long>(sizeof(request)) && request.magic == wire::kBrokerMagic &&
         request.num_groups <= wire::kMaxBrokerGroups &&
         request.control_size <= wire::kMaxBrokerControl &&
         request.name_size <= wire::kMaxBrokerName &&
         request.data_size <= (on_files ? wire::kMaxBrokerFileData : wire::kMaxBrokerData) &&
         request.num_rights <= wire::kMaxBrokerRights &&
         (kind_of(call) == wire::BrokerKind::kCancel || call.num_fds == own + request.num_rights) &&
         size == static_cast<long>(sizeof(request)) + data_offset(call) +
                     wire::broker_padded(request.data_size) &&
         (!below || (kind_of(call) == wire::BrokerKind::kBind && request.num_rights == 1 &&
                     (request.flags & wire::kBrokerOwnThread) != 0)) &&
         (!on_files || check_file_call(call));
}

FileSections file_sections(const BrokerCall& call) {
  // SAFETY: sections begin at multiples of eight in a payload that is aligned so.
  return {reinterpret_cast<const wire::BrokerFile*>(call.payload + control_offset(call)),
          call.payload + data_offset(call)};
}

bool do_at_once(BrokerCall& call) {
  if (has(call, wire::kBrokerOwnThread)) {
    return false;
  }
  if (kind_of(call) == wire::BrokerKind::kFile) {
    return make_file_call(call, false);
  }
  const long result = perform(call, kDontWait);
  const bool all = kind_of(call) != wire::BrokerKind::kSend || !has(call, wire::kBrokerStream) ||
                   call.done >= call.request.data_size;
  const bool stopped = result == -kEagain || (result >= 0 && !all);
  if (stopped && has(call, wire::kBrokerMayWait) && !never_waits(call)) {
    return false;
  }
  answer(call, result);
  return true;
}

void do_waiting(BrokerCall& call) {
  const long prepared = become_caller(call);
  if (prepared < 0) {
    answer_fault(call, prepared);
    return;
  }
  if (has(call, wire::kBrokerSayFile)) {
    bind_and_say_file(call);
    return;
  }
  if (kind_of(call) == wire::BrokerKind::kFile) {
    make_file_call(call, true);
    return;
  }
  answer(call, perform(call, has(call, wire::kBrokerMayWait) ? 0 : kDontWait));
}

void answer_fault(const BrokerCall& call, long result) {
  wire::BrokerReply reply = {};
  reply.flags = wire::kBrokerFault;
  reply.result = result < 0 ? result : -kEperm;
  send_reply(call, reply, {nullptr, 0}, nullptr, 0);
}

bool send_reply(const BrokerCall& call, wire::BrokerReply& reply, Piece path, const int* fds,
                uint32_t count) {
  reply.magic = wire::kBrokerMagic;
  reply.call = call.call;
  reply.path_size = static_cast<uint32_t>(path.size);
  Piece pieces[2] = {{&reply, sizeof(reply)}, path};
  struct {
    ControlHead head;
    int fds[wire::kMaxBrokerGiven + 1];
  } control = {{sizeof(ControlHead) + count * sizeof(int), kSolSocket, kScmRights}, {}};
  for (uint32_t i = 0; i < count; ++i) {
    control.fds[i] = fds[i];
  }
  const Header header = {
      nullptr, 0, pieces, 2, count > 0 ? &control : nullptr, count > 0 ? control.head.size : 0, 0};
  long sent = -kEintr;
  while (sent == -kEintr) {
    sent = send_header(call.reply_fd, header, kNoSignal);
  }
  // ETOOMANYREFS: more descriptors of this user are under way than we may have open. Without any,
  // only the supervisor's end makes it fail, and then nobody waits for the answer.
  if (sent < 0 && count > 0) {
    answer_fault(call, -kEmfile);
  }
  return sent >= 0;
}

void close_descriptors_of(BrokerCall& call) {
  for (uint32_t i = 0; i < call.num_fds; ++i) {
    close_fd(call.fds[i]);
  }
  call.num_fds = 0;
}

}  // namespace aasm::helper
