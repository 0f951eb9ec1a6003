// Memory: code from data, memory that others see, limits of the filter's arithmetic.
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>

#include "attempt.h"

namespace intray::test {
namespace {

constexpr long kPage = 4096;
constexpr long kOwn = MAP_PRIVATE | MAP_ANONYMOUS;

long page_of_own() { return call(SYS_mmap, nullptr, kPage, PROT_READ | PROT_WRITE, kOwn, -1, 0); }

}  // namespace

void add_memory_cases(Cases& cases) {
  using enum Expected;
  const auto killed = [&](const char* name, std::function<long(const World&)> act,
                          std::optional<Expected> paths_only = std::nullopt) {
    cases.push_back({name, std::move(act), kKilled, kKilled, paths_only});
  };
  killed(
      "mmap of code", [](const World&) { return call(SYS_mmap, nullptr, kPage, PROT_READ | PROT_EXEC, kOwn, -1, 0); },
      kWorks);
  killed("mmap of writable code",
         [](const World&) { return call(SYS_mmap, nullptr, kPage, PROT_READ | PROT_WRITE | PROT_EXEC, kOwn, -1, 0); });
  killed("mmap of a file as code",
         [](const World& w) { return call(SYS_mmap, nullptr, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE, w.job, 0); });
  killed("mmap with bit 32 in the protection",
         [](const World&) { return call(SYS_mmap, nullptr, kPage, PROT_READ | kBit32, kOwn, -1, 0); });
  killed("mmap with bit 32 in the flags",
         [](const World&) { return call(SYS_mmap, nullptr, kPage, PROT_READ, kOwn | kBit32, -1, 0); });
  killed(
      "mmap that grows down",
      [](const World&) { return call(SYS_mmap, nullptr, kPage, PROT_READ, kOwn | MAP_GROWSDOWN, -1, 0); }, kWorks);
  killed(
      "mmap below 2 GiB",
      [](const World&) { return call(SYS_mmap, nullptr, kPage, PROT_READ, kOwn | MAP_32BIT, -1, 0); }, kWorks);
  killed("mmap of huge pages",
         [](const World&) { return call(SYS_mmap, nullptr, kPage, PROT_READ, kOwn | MAP_HUGETLB, -1, 0); });
  killed("mmap that is locked",
         [](const World&) { return call(SYS_mmap, nullptr, kPage, PROT_READ, kOwn | MAP_LOCKED, -1, 0); });
  killed("mprotect to code",
         [](const World&) { return call(SYS_mprotect, page_of_own(), kPage, PROT_READ | PROT_EXEC); });
  killed("mprotect of the stack to code", [](const World&) {
    const int here = 0;
    return call(SYS_mprotect, word(&here) & ~(kPage - 1), kPage, PROT_READ | PROT_WRITE | PROT_EXEC);
  });
  killed("mprotect with bit 32",
         [](const World&) { return call(SYS_mprotect, page_of_own(), kPage, PROT_READ | kBit32); });
  killed("mprotect that grows down",
         [](const World&) { return call(SYS_mprotect, page_of_own(), kPage, PROT_READ | PROT_GROWSDOWN); });
  killed("pkey_mprotect to code",
         [](const World&) { return call(SYS_pkey_mprotect, page_of_own(), kPage, PROT_READ | PROT_EXEC, -1); });
  killed(
      "pkey_mprotect", [](const World&) { return call(SYS_pkey_mprotect, page_of_own(), kPage, PROT_READ, -1); },
      kWorks);
  killed("pkey_alloc", [](const World&) { return call(SYS_pkey_alloc, 0, 0); });
  killed(
      "mremap to a fixed place",
      [](const World&) {
        return call(SYS_mremap, page_of_own(), kPage, kPage, MREMAP_MAYMOVE | MREMAP_FIXED, page_of_own());
      },
      kWorks);
  killed("mremap with bit 32",
         [](const World&) { return call(SYS_mremap, page_of_own(), kPage, kPage, MREMAP_MAYMOVE | kBit32); });
  killed("remap_file_pages", [](const World&) { return call(SYS_remap_file_pages, page_of_own(), kPage, 0, 0, 0); });
  killed("madvise: merge", [](const World&) { return call(SYS_madvise, page_of_own(), kPage, 12); });
  killed("madvise: remove", [](const World&) { return call(SYS_madvise, page_of_own(), kPage, 9); });
  killed("madvise: poison", [](const World&) { return call(SYS_madvise, page_of_own(), kPage, 100); });
  killed(
      "madvise: not in a fork", [](const World&) { return call(SYS_madvise, page_of_own(), kPage, 10); }, kWorks);
  killed("madvise with bit 32",
         [](const World&) { return call(SYS_madvise, page_of_own(), kPage, MADV_DONTNEED | kBit32); });
  killed("shmget", [](const World&) { return call(SYS_shmget, IPC_PRIVATE, kPage, 0600); });
  killed("shmat of code", [](const World&) { return call(SYS_shmat, 0, nullptr, SHM_EXEC); });
  killed("shmctl", [](const World&) { return call(SYS_shmctl, 0, 0, nullptr); });
  killed(
      "memfd_create", [](const World&) { return call(SYS_memfd_create, "x", 0); }, kWorks);
  killed("memfd_secret", [](const World&) { return call(447, 0); });
  killed("mlock", [](const World&) { return call(SYS_mlock, page_of_own(), kPage); });
  killed("mlockall", [](const World&) { return call(SYS_mlockall, 1); });
  killed(
      "mincore",
      [](const World&) {
        char page = 0;
        return call(SYS_mincore, page_of_own(), kPage, &page);
      },
      kWorks);
  killed(
      "msync", [](const World&) { return call(SYS_msync, page_of_own(), kPage, MS_ASYNC); }, kWorks);
  killed("userfaultfd", [](const World&) { return call(SYS_userfaultfd, 1); });
  killed("move_pages", [](const World&) { return call(SYS_move_pages, 0, 0, 0, 0, 0, 0); });
  killed("mbind", [](const World&) { return call(SYS_mbind, 0, 0, 0, 0, 0, 0); });
  killed("set_mempolicy", [](const World&) { return call(SYS_set_mempolicy, 0, 0, 0); });
  for (const auto& [name, number] :
       {std::pair{"map_shadow_stack", 453L}, {"mseal", 462L}, {"set_mempolicy_home_node", 450L}})
    cases.push_back({name, [number = number](const World&) { return call(number, 0, 0, 0, 0); }, kNoSuchCall,
                     kNoSuchCall, std::nullopt});
}

}  // namespace intray::test
