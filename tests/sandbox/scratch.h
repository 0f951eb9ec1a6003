// Purpose:    a small inbox with a world around it, and what a locked-down process in it has open.
// Process:    tests/sandbox.
// Trust:      test code; the tree is made anew for each test program and belongs to the user of the attempts.
// Thread use: one thread: attempts are made in children.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "confine/plan.h"
#include "sys/fd.h"

namespace intray::test {

// root/
//   save/{tmp,new,cur,lease/0,lease/1,done,failed,rejected,unknown,receipts,ledger}/   as an inbox
//   mirror.git/HEAD, mirror.git/objects/                                              what may be read
//   elsewhere/secret, elsewhere/unix.sock                                             what no plan names, open to its
//   user by mode
// "m" is a file in each directory, made anew for each attempt.
class Scratch {
 public:
  Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  const std::string& root() const { return root_; }
  std::string place(const std::string& name) const { return root_ + "/" + name; }
  int port() const { return port_; }  // of a TCP listener of this test program, on 127.0.0.1
  // Every directory below root(), as place() takes it.
  static const std::vector<std::string>& places();
  // Each place holds the one file "m" and whatever else the comment above says; what earlier attempts left is gone.
  void tidy() const;

 private:
  std::string root_;
  int port_ = 0;
  sys::Fd tcp_;
  sys::Fd unix_;
};

// What the locked-down process has open, by number. Made in the child, before its lock-down.
struct World {
  std::string root;
  int port = 0;
  int tmp = -1, fresh = -1, cur = -1, slot = -1, slot_1 = -1, done = -1, failed = -1, rejected = -1, unknown = -1,
      receipts = -1, mirror = -1, elsewhere = -1, ledger_dir = -1;
  int job = -1;     // lease/0/m, for reading
  int ledger = -1;  // ledger/m, for reading and writing
  int epoll = -1, timer = -1, channel = -1;
  int other_epoll = -1, other_timer = -1;
  int live = -1;  // a TCP connection to the listener
  pid_t parent = -1;

  std::string path(const std::string& name) const { return root + "/" + name; }
  int directory(const std::string& place) const;  // the descriptor of one of Scratch::places()
  // The real plan of intray-save over these. Opens the directories that it pins.
  base::Result<confine::Plan> plan();
};

// Started by root, an attempt is made as this user (nobody); an ordinary user makes it as itself.
uid_t attempt_uid();
// In a child: changes to that user and opens everything. False: something could not be opened.
bool enter(const Scratch& scratch, World& world);

}  // namespace intray::test
