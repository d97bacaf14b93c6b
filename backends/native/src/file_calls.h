#pragma once

#include <linux/seccomp.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "aasm/schema/result.h"

#include "file_answer.h"
#include "file_judge.h"
#include "file_request.h"
#include "in_flight.h"

// The calls on names in the filesystem that the broker makes (docs/decisions/0019).
namespace aasm::backend_native {

// What an allowed event on a file becomes when such events come faster than they can be kept one by
// one: of the directory that the file is in, whose `name` then is "entries". Only where the grant
// it cites has that directory too; other events, and those of two names, are left as they are.
void tell_by_directory(const FileSpec& spec, schema::Event* event);

// Brokered calls on their way: each begun by its notification, made by the broker with copies, and
// finished by its answer. Where the policy denies nothing inside what it grants, the kernel judges
// the broker's own call and one turn is enough; else the names are looked up first, judged as what
// they lead to, and acted on by the descriptors of that. Of an execution the broker only asks its
// kernel; one that is not refused the caller makes itself (docs/decisions/0025). Nothing here
// waits. One thread.
class FileCalls {
 public:
  using Clock = std::chrono::steady_clock;

  FileCalls(const BrokerCallsSetup& setup, const FileSpec& spec);
  ~FileCalls();
  FileCalls(const FileCalls&) = delete;
  FileCalls& operator=(const FileCalls&) = delete;

  // Whether an answer of the broker with this number is to one of these calls.
  static bool owns(std::uint64_t call) { return call % 2 == 1; }

  void begin(const seccomp_notif& notified, Caller caller);

  // An answer of the broker, to a call of these.
  void accept(BrokerAnswer answer);
  // What could not be sent before. An error: the broker is gone.
  schema::Result<void> send_queued();
  bool has_queued() const { return calls_.has_queued(); }

  // To be called every kLookEvery while waiting().
  void cancel_interrupted(Clock::time_point now);

  // In the order in which they ended.
  std::vector<FinishedCall> take_finished() { return calls_.take_finished(); }
  // A call that somebody else has answered; what the broker says of it is thrown away.
  void forget(std::uint64_t notification);
  bool waiting() const { return calls_.waiting(); }

 private:
  struct InFlight;

  schema::Result<void> start(InFlight& call);
  schema::Result<void> read_names(InFlight& call);
  schema::Result<void> take_itself(InFlight& call);
  schema::Result<void> add_caller(InFlight& call);
  void order_names(InFlight& call);
  void dispatch(InFlight& call);
  bool try_send(InFlight& call);
  schema::Result<void> go_on(InFlight& call, BrokerAnswer& answer);
  void refuse_own(InFlight& call, const FileAnswer& answer);
  bool is_own_process(const std::string& path) const;
  schema::Result<void> judge(InFlight& call, FileAnswer& answer);
  schema::Result<void> make_judged(InFlight& call, FileAnswer& answer);
  schema::Result<void> end_made(InFlight& call, FileAnswer& answer);
  schema::Result<void> end_execution(InFlight& call, const FileAnswer& answer);
  bool is_above_unknown(const ResolvedFile& file) const;
  FileCall name_files(const InFlight& call, const FileAnswer& answer) const;
  schema::Result<FileCall> describe(const InFlight& call, const FileAnswer& answer) const;
  schema::Result<void> check_terminal(const InFlight& call, const FileAnswer& answer) const;
  void fail(InFlight& call, const schema::Error& error);
  void note_fault(InFlight& call, std::int64_t os_errno);
  void finish(InFlight& call, std::int64_t os_errno);

  pid_t broker_pid_;
  pid_t warden_pid_;
  const BrokerRights& rights_;
  Attribution& callers_;
  const Listener& listener_;
  const FileSpec& spec_;
  CallsInFlight<InFlight> calls_;  // of odd numbers
};

}  // namespace aasm::backend_native
