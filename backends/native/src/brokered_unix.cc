#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <utility>

#include "aasm/wire/broker_file.h"

#include "brokered.h"
#include "file_answer.h"

// The part of BrokerCalls that looks names of unix sockets up.
namespace aasm::backend_native {

using schema::Error;
using schema::ErrorCode;
using schema::Result;
using wire::BrokerKind;

void order_look_up(const BrokeredCall& call, wire::BrokerFile wanted, const std::string& path,
                   int directory, BrokerOrder& order) {
  wanted.turn = static_cast<std::uint32_t>(wire::BrokerTurn::kResolve);
  wanted.tgid = static_cast<std::uint32_t>(call.caller.pid);
  wanted.tid = static_cast<std::uint32_t>(call.tid);
  wanted.first_size = static_cast<std::uint32_t>(path.size() + 1);
  order.rights.clear();
  if (path[0] != '/') {
    wanted.given = wire::kGivenFirst;
    order.rights.push_back(directory);
  }
  order.kind = BrokerKind::kFile;
  order.socket = -1;
  order.directory = -1;
  order.name.clear();
  order.control.assign(reinterpret_cast<const char*>(&wanted), sizeof wanted);
  order.data = path + '\0';
}

// A name in the filesystem means what it means to the caller. To reach one it is looked up first,
// judged as what it led to, and then reached by the descriptor of that.
Result<void> BrokerCalls::order_unix_path(Brokered& call, NetworkCall what,
                                          const std::string& path) {
  // The caller need not be permitted to go where it stands.
  call.directory = AASM_TRY(path[0] == '/' ? caller_root(call.tid) : caller_directory(call.tid));
  call.order.directory = call.directory.get();
  call.order.flags |= wire::kBrokerOwnThread;
  const std::string text = AASM_TRY(callers_.status(call.tid));
  const CallerStatus status = AASM_TRY(parse_caller_status(text));
  call.order.mode_mask = status.mode_mask;
  AASM_TRY(rights_.give(status, &call.order));
  // What begins with a link of proc(5) would be one of the broker's (brokered_bind.cc).
  if (what == NetworkCall::kBind && (files_.denies() || path.starts_with("/proc/"))) {
    return order_bind_place(call, path);
  }
  if (what == NetworkCall::kBind) {
    say_bound_file(call);
    dispatch(call);
    return {};
  }
  call.path = path;
  call.resolving = call.order.kind;
  wire::BrokerFile wanted{};
  wanted.call = static_cast<std::uint32_t>(wire::BrokerFileCall::kOpen);
  wanted.flags = O_PATH;
  order_look_up(call, wanted, path, call.directory.get(), call.order);
  dispatch(call);
  return {};
}

namespace {

Error cannot_look_up(const FileAnswer& file) {
  return Error(ErrorCode::kUnavailable, "a name that the broker cannot look up",
               static_cast<int>(-file.result));
}

}  // namespace

Result<void> BrokerCalls::take_target(Brokered& call, BrokerAnswer& answer) {
  BrokerOrder& order = call.order;
  order.kind = call.resolving;
  order.socket = call.socket.get();
  order.data.clear();
  order.control = call.message.control;
  order.rights.clear();
  for (const process::Fd& fd : call.message.rights) {
    order.rights.push_back(fd.get());
  }
  FileAnswer file = AASM_TRY(read_file_answer(std::move(answer)));
  if (!file.ours && (file.result == -EMFILE || file.result == -ENFILE)) {
    return cannot_look_up(file);
  }
  if (call.resolving == BrokerKind::kBind) {
    return bind_in_place(call, file);
  }
  if (file.ours && ipc_.sockets_stated && !ipc_.observes) {
    admit(call, refuse_unresolved(ipc_, call.path));
    return {};
  }
  if (file.ours) {
    return cannot_look_up(file);
  }
  if (file.result < 0) {
    return kernel_answer(static_cast<int>(-file.result));
  }
  if (!file.target) {
    return kernel_answer(ENOENT);
  }
  return reach_target(call, file.places[0], std::move(file.target));
}

Result<void> BrokerCalls::reach_target(Brokered& call, const FoundPlace& place,
                                       process::Fd target) {
  ResolvedSocket resolved;
  resolved.path = place.path;
  resolved.device = place.found.device;
  resolved.inode = place.found.inode;
  const NetworkCall what =
      call.resolving == BrokerKind::kSend ? NetworkCall::kSend : NetworkCall::kConnect;
  if (NetworkVerdict verdict = judge_unix(spec_, what, resolved);
      !verdict.perform && !admit(call, std::move(verdict))) {
    return {};
  }
  std::optional<schema::Event> lookup = std::exchange(call.event, std::nullopt);
  if (!admit_socket_path(call, what, resolved, S_ISSOCK(place.found.mode), target)) {
    return {};
  }
  if (!call.event) {
    call.event = std::move(lookup);
  }
  call.order.name.clear();
  call.directory = std::move(target);
  call.order.target = call.directory.get();
  dispatch(call);
  return {};
}

}  // namespace aasm::backend_native
