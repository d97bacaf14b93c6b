#pragma once

#include <atomic>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

// One thread makes calls while others change what they are about: names in memory, links,
// descriptors replaced by dup2(2), structs. Below the working directory "open" is what may be
// changed and "shut" what may not. Each kind says how its calls ended and how often something
// denied was the effect.
namespace flips {

struct Counts {
  long made = 0;
  long refused = 0;  // EACCES
  long other = 0;    // what was read half changed, for one
  long leaks = 0;
};

constexpr int kToldDenied = 77;  // status of a program that must not have been executed

using Arguments = std::vector<std::string>;
using Kind = std::function<Counts(long rounds, const Arguments& arguments)>;

// Runs change(1), change(0), ... until it goes.
class Flipper {
 public:
  explicit Flipper(std::function<void(int)> change)
      : change_(std::move(change)), thread_([this] {
          while (!over_) {
            change_(1);
            change_(0);
          }
        }) {}
  Flipper(const Flipper&) = delete;
  Flipper& operator=(const Flipper&) = delete;
  ~Flipper() {
    over_ = true;
    thread_.join();
  }

 private:
  std::function<void(int)> change_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

// A name whose directory flips between the two, "open/..." and "shut/...", at once.
class FlippingName {
 public:
  explicit FlippingName(const std::string& last) : text_("open/" + last) {}
  const char* text() const { return text_.data(); }
  void change(int i) {
    volatile auto* word = reinterpret_cast<volatile unsigned*>(text_.data());
    unsigned next = 0;
    std::memcpy(&next, i == 0 ? "open" : "shut", sizeof next);
    *word = next;
  }

 private:
  std::string text_;
};

// A result of a call: below zero it failed.
inline bool count(Counts& counts, long result) {
  if (result >= 0) {
    ++counts.made;
  } else {
    ++(errno == EACCES ? counts.refused : counts.other);
  }
  return result >= 0;
}

Counts flip_attributes(long rounds, const Arguments& none);
Counts flip_links(long rounds, const Arguments& none);
Counts flip_renames(long rounds, const Arguments& none);
Counts flip_exchanges(long rounds, const Arguments& none);
Counts flip_directories(long rounds, const Arguments& none);
Counts flip_open_how(long rounds, const Arguments& none);
Counts flip_sockets(long rounds, const Arguments& ports);               // allowed by UDP, denied
Counts flip_messages(long rounds, const Arguments& ports);              // allowed, denied
Counts flip_executed_names(long rounds, const Arguments& files);        // may be executed, may not
Counts flip_executed_links(long rounds, const Arguments& files);        // the same
Counts flip_executed_descriptors(long rounds, const Arguments& files);  // the same

}  // namespace flips
