#include <sys/ipc.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "brokered.h"

// The part of BrokerCalls that has to do with the domain ipc (docs/decisions/0022).
namespace aasm::backend_native {

using schema::Result;
using wire::BrokerKind;

namespace {

std::optional<FileIdentity> found_identity(const BrokerAnswer& answer) {
  return answer.descriptors.empty() ? std::nullopt : file_identity(answer.descriptors.front());
}

}  // namespace

// False: the call is finished.
bool BrokerCalls::admit_socket_path(Brokered& call, NetworkCall what,
                                    const ResolvedSocket& resolved, bool is_socket,
                                    const process::Fd& target) {
  FoundSocket found;
  found.name = resolved;
  found.is_socket = is_socket;
  if (const std::optional<FileIdentity> file = file_identity(target)) {
    found.made_inside = made_inside_.has_socket(*file);
  }
  return admit(call, judge_socket_path(ipc_, what, found));
}

// Of a bind, where it has to be known which sockets are of the tree.
void BrokerCalls::say_bound_file(Brokered& call) const {
  if (ipc_.sockets_stated) {
    call.order.flags |= wire::kBrokerSayFile;
    call.began = std::time(nullptr);
  }
}

// What the path leads to now need not be what the bind made: the kernel says what that is.
void BrokerCalls::note_bound_socket(const Brokered& call, const BrokerAnswer& answer) {
  if ((call.order.flags & wire::kBrokerSayFile) == 0) {
    return;
  }
  const std::optional<FileIdentity> file = found_identity(answer);
  const Result<BoundFile> bound = bound_file(call.socket);
  // A file system's clock is behind by part of a second.
  if (file && bound && is_bound_file(*file, *bound, call.began - 1)) {
    made_inside_.add_socket(*file);
  }
}

namespace {

// A datagram socket that has a peer refuses others with the same number as Landlock's scope. To
// connect one of ours says which it was, and the other side does not notice.
bool is_refused_by_itself(int type, const std::string& name) {
  if (type != SOCK_DGRAM) {
    return false;
  }
  const process::Fd own(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return !own || ::connect(own.get(), reinterpret_cast<const sockaddr*>(name.data()),
                           static_cast<socklen_t>(name.size())) != 0;
}

}  // namespace

// Landlock's scope has decided: the socket of that abstract name is not of the tree.
void BrokerCalls::note_scope_refusal(Brokered& call, std::int64_t os_errno) {
  if (ipc_.abstract_rule.empty() || os_errno != EPERM || call.facts.family != AF_UNIX) {
    return;
  }
  const UnixName name = read_unix_name(call.order.name);
  const bool reaches =
      call.order.kind == BrokerKind::kConnect || call.order.kind == BrokerKind::kSend;
  if (name.kind == UnixName::Kind::kAbstract && reaches &&
      !is_refused_by_itself(call.facts.type, call.order.name)) {
    call.events.push_back(abstract_refused(ipc_, name.text));
  }
}

// What nobody else can have made is of the tree, so it is tried first to make it.
Result<void> BrokerCalls::start_memory(Brokered& call) {
  const MemoryUse use = memory_use(call.data);
  call.memory = use;
  call.order.kind = BrokerKind::kMemory;
  call.order.backlog = use.key;
  call.order.mode_mask = static_cast<std::uint32_t>(use.kind);
  call.order.name.assign(reinterpret_cast<const char*>(&use.size), sizeof use.size);
  AASM_TRY(add_credentials(call));
  if (use.key != IPC_PRIVATE && (use.flags & IPC_CREAT) == 0) {
    find_memory(call);
    return {};
  }
  call.order.send_flags = static_cast<std::uint32_t>(use.flags | IPC_CREAT | IPC_EXCL);
  dispatch(call);
  return {};
}

void BrokerCalls::find_memory(Brokered& call) {
  call.finding = true;
  call.order.send_flags = static_cast<std::uint32_t>(call.memory.flags & ~(IPC_CREAT | IPC_EXCL));
  dispatch(call);
}

void BrokerCalls::memory_made(Brokered& call, std::int64_t result) {
  const MemoryUse& use = call.memory;
  const bool exists = result == -EEXIST && !call.finding && (use.flags & IPC_EXCL) == 0;
  if (exists) {
    find_memory(call);
    return;
  }
  if (result < 0) {
    finish(call, 0, -result);
    return;
  }
  const auto id = static_cast<std::int32_t>(result);
  if (!call.finding) {
    made_inside_.add_memory(use.kind, id);
  } else if (!made_inside_.has_memory(use.kind, id)) {
    schema::Event refusal = memory_refused(ipc_, memory_text(call.data));
    const bool let_through = observing_.lets_through(refusal);
    call.events.push_back(let_through ? seen(std::move(refusal)) : std::move(refusal));
    finish(call, let_through ? id : 0, let_through ? 0 : EACCES);
    return;
  }
  finish(call, id, 0);
}

}  // namespace aasm::backend_native
