#pragma once

#include <cstdint>
#include <string>

#include "ipc_spec.h"
#include "network_judge.h"

// What a run's policy makes of calls that reach other processes (docs/decisions/0022). Pure.
namespace aasm::backend_native {

// What a path in a unix address led to.
struct FoundSocket {
  ResolvedSocket name;
  bool is_socket = true;     // of anything else the kernel says that nobody listens
  bool made_inside = false;  // bound by a process of the tree
};

// Connecting to or sending to a socket with a path. Refused: EACCES.
NetworkVerdict judge_socket_path(const IpcSpec& spec, NetworkCall call, const FoundSocket& found);

// A path that leads through what proc(5) has of aasm's own processes: it is not looked up.
NetworkVerdict refuse_unresolved(const IpcSpec& spec, const std::string& path);

// The event of a call that Landlock's scope refused, because the socket of that abstract name was
// made outside. EPERM.
schema::Event abstract_refused(const IpcSpec& spec, const std::string& name);

// Signalling `target`, "1234" or "-1234" for a group, which is outside. EPERM.
schema::Event signal_refused(const IpcSpec& spec, const std::string& target);

// Using what other processes find by a key, a number or a name. EACCES.
schema::Event memory_refused(const IpcSpec& spec, const std::string& what);

// A call that could not be judged, for a reason of ours.
schema::Event ipc_fault(const IpcSpec& spec, const std::string& what, std::int64_t os_errno);

}  // namespace aasm::backend_native
