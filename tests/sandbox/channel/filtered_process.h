#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "aasm/schema/record.h"

#include "channel.h"
#include "filter_policy.h"

namespace aasm::backend_native {

// A raw system call: no C library wrapper that could make others, errno as a negative result.
long raw_syscall(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                 long f = 0);

// A page that parent and children share, for what a child saw.
class SharedWords {
 public:
  explicit SharedWords(std::size_t count);
  ~SharedWords();
  SharedWords(const SharedWords&) = delete;
  SharedWords& operator=(const SharedWords&) = delete;

  std::int64_t& operator[](std::size_t index) const { return words_[index]; }

 private:
  std::int64_t* words_;
  std::size_t bytes_;
};

struct FilteredOptions {
  CanaryScript script;
  // Made between the two rendezvous, inside the filter.
  std::function<void()> canaries;
  // Made after go, before the report pipe closes.
  std::function<void()> before_exec;
  BatchLimits limits;
};

// A forked process that installs the filter of `spec` on itself, meets the channel at its
// rendezvous as the launch helper does, closes its report pipe as an exec would, and then runs
// `workload`. Its exit status is what `workload` returns.
class FilteredProcess {
 public:
  FilteredProcess(FilterSpec spec, std::function<int()> workload, FilteredOptions options = {});
  ~FilteredProcess();  // kills what is left
  FilteredProcess(const FilteredProcess&) = delete;
  FilteredProcess& operator=(const FilteredProcess&) = delete;

  Channel& channel() { return *channel_; }
  pid_t pid() const { return pid_; }

  // Awaits the canaries and lets the workload begin.
  void go();
  // wait(2) status of the process.
  int wait();
  // Ends the channel; afterwards events() are final.
  schema::ChannelTotals finish();
  // go(), wait() and finish(); expects the channel to have ended closed and without loss.
  int run();

  std::vector<schema::Event> events() const;
  const schema::ChannelTotals& totals() const { return totals_; }
  // The entries on the named call. A sanitizer's runtime makes calls of its own.
  std::vector<schema::Event> events_on(std::string_view name) const;
  // Actions on the named call, counted over all entries.
  std::int64_t actions_on(std::string_view name) const;

 private:
  [[noreturn]] void be_child(const FilterSpec& spec, const std::function<int()>& workload,
                             const FilteredOptions& options, int report_fd);

  SharedWords shared_;
  pid_t pid_ = 0;
  std::unique_ptr<Channel> channel_;
  mutable std::mutex mutex_;
  std::vector<schema::EventBatch> batches_;
  schema::ChannelTotals totals_;
};

}  // namespace aasm::backend_native
