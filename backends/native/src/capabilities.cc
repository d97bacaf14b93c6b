#include "capabilities.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace aasm::backend_native {
namespace {

using schema::Attempt;
using schema::AttemptOutcome;
using schema::Domain;
using schema::DomainCapability;
using schema::Prerequisite;
using schema::PrerequisiteStatus;
using schema::ProbeAttempt;

// Sentences of several lines: no comma is missing.
// NOLINTBEGIN(bugprone-suspicious-missing-comma)
std::vector<std::string> set_up_limitations(Domain domain) {
  switch (domain) {
    case Domain::kFilesystemRead:
      return {
          "Landlock does not restrict stat, access, readlink, chdir, getxattr, listxattr, "
          "file_getattr, statfs, open with O_PATH, inotify_add_watch and fanotify_mark: names, "
          "sizes, attributes and the times of changes of files outside the grants stay visible, "
          "aasm's own included",
          "execution is checked where a file is executed, not by a loader or an interpreter that "
          "reads a granted script; an anonymous memory file is refused by the decision on the call "
          "alone, with evidence decisions, which a caller passes that changes the call after it: "
          "of both, control of execution is advisory",
          "an execution that is allowed is recorded as what was asked; the kernel reads the name "
          "anew, and Landlock refuses what it then finds without a record where no grant covers "
          "it, the interpreter of a script and the loader of a program among it",
          "a file that may be executed and not read shows its contents to code that is preloaded "
          "into it",
          "of a denied directory a file that had another name elsewhere at launch, by a hard "
          "link, goes by that name",
      };
    case Domain::kFilesystemWrite:
      return {
          "Landlock does not restrict chmod, chown, utime, setxattr, removexattr, file_setattr and "
          "ioctl that sets flags: where evidence of files stays at setup, attributes of files "
          "outside the grants, aasm's own included, can be changed where their owner and mode "
          "permit it; a run says when those of its ledger, keys or trust files were",
          "ioctl on a device is refused by Landlock without a record",
          "the name that bind makes for a unix socket is judged by Landlock, without a record, "
          "where the policy denies no place",
      };
    case Domain::kCredential:
      return {
          "environ, mem and maps of processes outside are refused; cmdline, stat, status, limits, "
          "cgroup, mounts and the numbers of open descriptors, among others that /proc shows "
          "everybody, are readable where policy grants /proc",
          "a credential in a file or behind a socket is not covered by this domain",
      };
    case Domain::kSyscall:
    case Domain::kNetworkEgress:
    case Domain::kNameResolution:
    case Domain::kProcessCreation:
    case Domain::kResource:
    case Domain::kIpc:
      break;
  }
  return {};
}

std::vector<std::string> limitations_of(Domain domain) {
  switch (domain) {
    case Domain::kProcessCreation:
      return {
          "processes are counted, threads of a process are not",
          "a signal whose handler was set without SA_RESTART, and that arrives in the moment "
          "before the supervisor has received a creation, makes it fail with EINTR",
          "executing another program in place of the caller makes no process",
      };
    case Domain::kResource:
      return {
          "cpu_seconds, file_size_bytes and open_files hold for each process by itself, not for "
          "the tree together",
          "a limit of the kernel refuses without a record of the single action; a program that "
          "reaches cpu_seconds is sent SIGXCPU, and is killed by SIGKILL a second of processor "
          "time "
          "later; the signals that end it stand in the record, and whoever may signal it can send "
          "the same",
          "memory_bytes takes a control group that the user may make; page cache counts; version 2 "
          "kills the whole tree, version 1 one process of its choice, and only where that is the "
          "program itself is the limit the cause of its end",
          "while the whole job is stopped at a terminal, the supervisor with it, "
          "wall_clock_seconds goes on and wakes the supervisor when it is over",
      };
    case Domain::kNetworkEgress:
      return {
          "what is sent on a socket that is connected already, one that was inherited or that came "
          "over a unix socket among them, is not judged again",
          "a service outside that is reached by a unix socket and opens connections for its "
          "clients is not covered by this domain",
          "allowed calls are made by the broker: servers that ask for the process behind a unix "
          "or netlink socket are told the broker's, and a message of more than 64 KiB on a socket "
          "that is no stream is refused (EMSGSIZE)",
          "a connection of MPTCP may take further paths to addresses that its peer announces, "
          "where the host's settings accept them",
          "an address that was given out for a name may be connected to from one minute to one "
          "hour after the answer, by its lifetime, and whoever else answers at that address is "
          "reached by that name too",
      };
    case Domain::kNameResolution:
      return {
          "answered are questions to port 53; closed are the other ports and the unix sockets that "
          "resolvers are known to listen at; a lookup by way of a service elsewhere that policy "
          "allows to connect to (DNS over HTTPS among them) is not seen, nor is a file of hosts",
          "a name that may be looked up is asked for addresses (A, AAAA) alone; questions of other "
          "types are answered empty, and aliases are followed without being shown",
          "a connection that stands is not ended when the answer that opened it has lapsed",
      };
    case Domain::kIpc:
      return {
          "a socket with a path that a process of the tree has bound can be reached without a "
          "rule; where the kernel does not tell where sockets are bound (unix_diag) or the file "
          "system keeps no times of birth, it needs one",
          "a rule stands for the socket that its path leads to at the launch and for whatever its "
          "path leads to later: where the program may write the directory, it can put another "
          "socket there",
          "sockets that were connected before, inherited ones among them, and pairs of sockets are "
          "not judged; servers are told the broker's process",
          "POSIX shared memory is files below /dev/shm, which the filesystem domains cover; POSIX "
          "message queues are refused whole; ptrace stays with the domain syscall",
          "a signal to the caller's own process group, or to every process, reaches those inside "
          "only and is no decision",
      };
    case Domain::kFilesystemRead:
    case Domain::kFilesystemWrite:
    case Domain::kSyscall:
    case Domain::kCredential:
      break;
  }
  return set_up_limitations(domain);
}
// NOLINTEND(bugprone-suspicious-missing-comma)

std::string channel_scope(Domain domain) {
  if (domain == Domain::kNetworkEgress) {
    return "every call of every process of the tree that makes a socket, or names an address to "
           "reach or to listen at; what goes over a connected socket is no decision";
  }
  if (domain == Domain::kNameResolution) {
    return "every question of every process of the tree to port 53 where names may be looked up; "
           "every call that reaches for a resolver's socket and, where policy leaves connecting "
           "open, for a resolver's port; elsewhere network_egress decides on those ports";
  }
  if (domain == Domain::kProcessCreation) {
    return "every creation of a process that is refused";
  }
  if (domain == Domain::kIpc) {
    return "every call of every process of the tree that reaches a unix socket by a name, signals "
           "a process outside, or uses memory, semaphores or messages made outside; what goes over "
           "a connected socket is no decision";
  }
  if (domain == Domain::kFilesystemWrite) {
    return "with evidence write-decisions or decisions every call of every process of the tree "
           "that opens a file for writing, or makes, truncates, renames, links or removes one; "
           "what goes over an open descriptor is no decision";
  }
  if (domain == Domain::kFilesystemRead) {
    return "with evidence decisions every call of every process of the tree that opens a file, "
           "lists a directory or asks to execute a file; what the kernel opens besides to execute "
           "it, asking for attributes and what goes over an open descriptor are no decisions";
  }
  return "every system call that the filter does not let through, of every process of the tree; a "
         "filter that the workload adds itself can refuse a call before it is seen";
}

std::string set_up_scope(Domain domain) {
  if (domain == Domain::kCredential) {
    return "no single decision is reported: environment and descriptors are set up once";
  }
  return "no single decision is reported: limits are set once, and the wall clock is the "
         "supervisor's";
}

bool has_channel(Domain domain) {
  return domain == Domain::kSyscall || domain == Domain::kNetworkEgress ||
         domain == Domain::kNameResolution || domain == Domain::kProcessCreation ||
         domain == Domain::kFilesystemRead || domain == Domain::kFilesystemWrite ||
         domain == Domain::kIpc;
}

bool succeeded(const Attempt& attempt) {
  return attempt.outcome == AttemptOutcome::kSucceeded;
}
bool refused(const Attempt& attempt) {
  return attempt.outcome == AttemptOutcome::kRefused;
}

// Landlock keeps files by itself; whether single calls are decided besides is the channel's matter.
bool shows_channel_alone(Domain domain, const ProbeAttempt& attempt) {
  const bool of_files = domain == Domain::kFilesystemRead || domain == Domain::kFilesystemWrite;
  return of_files && attempt.channel != schema::ChannelReport::kNotApplicable;
}

schema::DecisionChannel channel_of(Domain domain, const std::vector<ProbeAttempt>& attempts) {
  schema::DecisionChannel channel;
  channel.mechanism = "none";
  if (!has_channel(domain)) {
    channel.scope = set_up_scope(domain);
    return channel;
  }
  const bool reported = std::any_of(attempts.begin(), attempts.end(), [&](const ProbeAttempt& a) {
    return a.channel == schema::ChannelReport::kReported &&
           (!shows_channel_alone(domain, a) || refused(a.inside));
  });
  if (reported) {
    channel.mechanism = "seccomp_user_notification";
    channel.scope = channel_scope(domain);
    channel.loss_counted_by = "the caller waits for the answer; events not written are counted";
  } else {
    channel.scope = "the probe's refused call was not reported";
  }
  return channel;
}

std::string attempt_text(const Attempt& attempt) {
  std::string text(schema::token(attempt.outcome));
  return attempt.os_errno == 0 ? text : text + " (errno " + std::to_string(attempt.os_errno) + ")";
}

Prerequisite prerequisite_from(std::string text, const ProbeAttempt& pair) {
  Prerequisite prerequisite;
  prerequisite.text = std::move(text);
  prerequisite.detail = pair.action + ": without the boundary " + attempt_text(pair.control) +
                        ", inside it " + attempt_text(pair.inside);
  if (succeeded(pair.inside)) {
    prerequisite.status = PrerequisiteStatus::kUnsatisfied;
  } else if (succeeded(pair.control) && refused(pair.inside)) {
    prerequisite.status = PrerequisiteStatus::kSatisfied;
  }
  return prerequisite;
}

std::string boundary_text(Domain domain) {
  switch (domain) {
    case Domain::kFilesystemRead:
      return "Landlock refuses reading and executing outside the grants";
    case Domain::kFilesystemWrite:
      return "Landlock refuses writing outside the grants";
    case Domain::kSyscall:
      return "the filter refuses and reports an unlisted system call";
    case Domain::kCredential:
      return "descriptors are closed and other processes' environments are refused";
    case Domain::kProcessCreation:
      return "the filter reports the creation of a process and it can be refused";
    case Domain::kResource:
      return "the kernel keeps a limit, and it cannot be raised";
    case Domain::kNetworkEgress:
      return "connections and TCP ports outside the rules are refused, and connections reported";
    case Domain::kNameResolution:
      return "a connection to where names are looked up is refused and reported";
    case Domain::kIpc:
      return "sockets and processes outside are out of reach, and each attempt is reported";
  }
  return "";
}

}  // namespace

DomainCapability derive_capability(Domain domain, std::vector<ProbeAttempt> attempts,
                                   const ProbeAttempt& signal_scope) {
  DomainCapability capability;
  capability.domain = domain;
  capability.channel = channel_of(domain, attempts);
  bool went_through = false;
  bool watched = std::any_of(attempts.begin(), attempts.end(), [&](const ProbeAttempt& attempt) {
    return !shows_channel_alone(domain, attempt);
  });
  for (const ProbeAttempt& attempt : attempts) {
    went_through = went_through || succeeded(attempt.inside);
    if (shows_channel_alone(domain, attempt) && !succeeded(attempt.inside)) {
      continue;
    }
    capability.prerequisites.push_back(prerequisite_from(boundary_text(domain), attempt));
    watched = watched && succeeded(attempt.control) && refused(attempt.inside);
  }
  capability.prerequisites.push_back(prerequisite_from(
      "signal scope (Landlock ABI 6): processes outside cannot be signalled", signal_scope));
  capability.attempts = std::move(attempts);
  if (went_through) {
    capability.reason = "the probe's forbidden action went through inside the boundary";
    return capability;
  }
  capability.limitations = limitations_of(domain);
  capability.support =
      capability.limitations.empty() ? schema::Support::kFull : schema::Support::kPartial;
  capability.mediation = schema::Mediation::kEnforce;
  capability.timing = schema::Timing::kPre;
  capability.synchrony = schema::Synchrony::kSync;
  if (watched) {
    capability.failure = schema::FailurePosture::kFailClosed;
    capability.descendants = schema::DescendantCoverage::kProcessTree;
  }
  return capability;
}

}  // namespace aasm::backend_native
