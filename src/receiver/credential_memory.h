// Purpose:    bytes in locked, guarded memory that is wiped when it is given back: for secrets only.
// Trust:      holds the most precious bytes of the process; nothing here copies or prints them.
// Thread use: values; base::init_crypto() first.
//
// Giving the memory back unlocks it (munlock), so it must not happen after the system call filter is in force.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace intray::receiver {

class LockedBytes {
 public:
  // kDenied: the memory can't be locked (RLIMIT_MEMLOCK).
  static base::Result<LockedBytes> allocate(std::size_t bytes);

  char* data() { return memory_.get(); }
  const char* data() const { return memory_.get(); }
  std::size_t size() const { return size_; }
  std::string_view first(std::size_t bytes) const { return {memory_.get(), bytes}; }
  // No more writes: a stray one kills the process.
  void seal();

 private:
  struct Free {
    void operator()(char* memory) const;
  };
  LockedBytes(char* memory, std::size_t size) : memory_(memory), size_(size) {}

  std::unique_ptr<char, Free> memory_;
  std::size_t size_;
};

}  // namespace intray::receiver
