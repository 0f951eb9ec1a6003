#include "sys/dir.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <set>

#include "sys/fault.h"
#include "temp_dir.h"

using namespace intray;
using base::ErrorCode;
using test::TempDir;
using test::value_of;

TEST_CASE("dir: create is exclusive, has exactly the mode asked for, and follows nothing") {
  const TempDir temp;
  const auto dir = value_of(sys::Dir::open(temp.path()));
  const mode_t before = ::umask(077);
  const auto file = dir.create("a", 0644);
  ::umask(before);
  REQUIRE(file);
  CHECK(value_of(sys::stat_fd(file->get())).mode == 0644);
  CHECK(dir.create("a", 0644).error().code == ErrorCode::kExists);
  REQUIRE(::symlink("elsewhere", (temp / "link").c_str()) == 0);
  CHECK(dir.create("link", 0644).error().code == ErrorCode::kExists);
  CHECK_FALSE(std::filesystem::exists(temp / "elsewhere"));
  CHECK((::fcntl(file->get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("dir: fchmod is called only where the mode differs") {
  const TempDir temp;
  const auto dir = value_of(sys::Dir::open(temp.path()));
  int changes = 0;
  sys::fault::set_hook([&](sys::fault::Op op) -> sys::fault::Verdict {
    changes += op == sys::fault::Op::kChmod ? 1 : 0;
    return {};
  });
  const mode_t before = ::umask(027);
  for (const std::uint32_t mode : {0640U, 0600U}) {
    const std::string name = std::to_string(mode);
    CHECK(value_of(sys::stat_fd(value_of(dir.create(name, mode)).get())).mode == mode);
    CHECK(value_of(sys::stat_fd(value_of(dir.open_append(name + "a", mode)).get())).mode == mode);
    CHECK(value_of(sys::stat_fd(value_of(dir.open_rw(name + "rw", mode)).get())).mode == mode);
  }
  CHECK(changes == 0);
  CHECK(value_of(sys::stat_fd(value_of(dir.create("wide", 0644)).get())).mode == 0644);
  CHECK(changes == 1);
  ::umask(before);
  sys::fault::set_hook({});
}

TEST_CASE("dir: stat tells every kind of thing apart without following") {
  const TempDir temp;
  const auto dir = value_of(sys::Dir::open(temp.path()));
  test::write_text(temp / "file", "12345");
  REQUIRE(::mkfifo((temp / "fifo").c_str(), 0644) == 0);
  REQUIRE(::mkdir((temp / "sub").c_str(), 0755) == 0);
  REQUIRE(::symlink("file", (temp / "link").c_str()) == 0);
  REQUIRE(::link((temp / "file").c_str(), (temp / "second").c_str()) == 0);
  const sys::Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (temp / "sock").copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);

  const auto file = value_of(dir.stat("file"));
  CHECK(file.type == sys::FileType::kRegular);
  CHECK(file.size_bytes == 5);
  CHECK(file.links == 2);
  CHECK(file.uid == ::geteuid());
  CHECK(value_of(dir.stat("second")).inode == file.inode);
  CHECK(value_of(dir.stat("fifo")).type == sys::FileType::kFifo);
  CHECK(value_of(dir.stat("sub")).type == sys::FileType::kDirectory);
  CHECK(value_of(dir.stat("link")).type == sys::FileType::kSymlink);
  CHECK(value_of(dir.stat("sock")).type == sys::FileType::kSocket);
  CHECK(dir.stat("nothing").error().code == ErrorCode::kNotFound);
}

TEST_CASE("dir: open_read neither blocks nor follows") {
  const TempDir temp;
  const auto dir = value_of(sys::Dir::open(temp.path()));
  test::write_text(temp / "file", "text");
  REQUIRE(::mkfifo((temp / "fifo").c_str(), 0644) == 0);
  REQUIRE(::symlink("file", (temp / "link").c_str()) == 0);
  CHECK(dir.open_read("link").error().code == ErrorCode::kInvalid);
  const auto fifo = dir.open_read("fifo");  // returns at once: nobody writes
  REQUIRE(fifo);
  CHECK(value_of(sys::stat_fd(fifo->get())).type == sys::FileType::kFifo);
  CHECK(dir.open_append("fifo", 0600).error().code == ErrorCode::kInvalid);
  CHECK(dir.open_append("link", 0600).error().code == ErrorCode::kInvalid);
  CHECK(sys::Dir::open(temp / "link").error().code == ErrorCode::kInvalid);
  CHECK(value_of(sys::read_up_to(value_of(dir.open_read("file")).get(), 3)) == "tex");
}

TEST_CASE("dir: move never replaces and says which side was wrong") {
  const TempDir temp;
  const auto dir = value_of(sys::Dir::open(temp.path()));
  value_of(dir.make_subdir("to", 0750));
  const auto to = value_of(dir.open_subdir("to"));
  test::write_text(temp / "a", "1");
  test::write_text(temp / "to/a", "2");
  CHECK(dir.move("a", to, "a").error().code == ErrorCode::kExists);
  CHECK(test::read_text(temp / "a") == "1");
  CHECK(test::read_text(temp / "to/a") == "2");
  CHECK(dir.move("b", to, "b").error().code == ErrorCode::kNotFound);
  value_of(dir.move("a", to, "b"));
  CHECK(test::read_text(temp / "to/b") == "1");
  CHECK(value_of(dir.stat("to")).mode == 0750);
}

TEST_CASE("dir: make_subdir sets sticky and setgid in spite of the umask") {
  const TempDir temp;
  const auto dir = value_of(sys::Dir::open(temp.path()));
  value_of(dir.make_subdir("drop", 03770));
  CHECK(value_of(dir.stat("drop")).mode == 03770);
  CHECK(dir.make_subdir("drop", 0700).error().code == ErrorCode::kExists);
}

TEST_CASE("dir: append adds to what is there, and a new file gets its mode") {
  const TempDir temp;
  const auto dir = value_of(sys::Dir::open(temp.path()));
  value_of(sys::write_all(value_of(dir.open_append("log", 0640)).get(), "one\n"));
  value_of(sys::write_all(value_of(dir.open_append("log", 0600)).get(), "two\n"));
  CHECK(test::read_text(temp / "log") == "one\ntwo\n");
  CHECK(value_of(dir.stat("log")).mode == 0640);
  CHECK(value_of(sys::last_byte(value_of(dir.open_read("log")).get())) == '\n');
  test::write_text(temp / "empty", "");
  CHECK_FALSE(value_of(sys::last_byte(value_of(dir.open_read("empty")).get())));
}

TEST_CASE("dir: a stream names everything once, in helpings") {
  const TempDir temp;
  const auto dir = value_of(sys::Dir::open(temp.path()));
  std::set<std::string> want;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = std::to_string(i) + "-" + std::string(static_cast<std::size_t>(i % 200), 'x');
    REQUIRE(dir.create(name, 0600));
    want.insert(name);
  }
  auto stream = value_of(dir.stream());
  std::set<std::string> got;
  while (true) {
    const auto names = value_of(stream.next(7));
    if (names.empty()) break;
    CHECK(names.size() <= 7);
    for (const auto& name : names) CHECK(got.insert(name).second);
  }
  CHECK(got == want);
  CHECK(value_of(stream.next(7)).empty());
  CHECK(value_of(dir.list()).size() == want.size());
}

TEST_CASE("dir: read_file takes a regular file of at most the given size") {
  const TempDir temp;
  test::write_text(temp / "file", "12345");
  CHECK(value_of(sys::read_file(temp / "file", 5)) == "12345");
  CHECK(sys::read_file(temp / "file", 4).error().code == ErrorCode::kInvalid);
  CHECK(sys::read_file(temp.path(), 4).error().code == ErrorCode::kInvalid);
  CHECK(sys::read_file(temp / "none", 4).error().code == ErrorCode::kNotFound);
  REQUIRE(::mkfifo((temp / "fifo").c_str(), 0644) == 0);
  CHECK(sys::read_file(temp / "fifo", 4).error().code == ErrorCode::kInvalid);
}

TEST_CASE("dir: a short or interrupted write is carried on") {
  const TempDir temp;
  const auto dir = value_of(sys::Dir::open(temp.path()));
  int calls = 0;
  sys::fault::set_hook([&](sys::fault::Op op) -> sys::fault::Verdict {
    if (op != sys::fault::Op::kWrite) return {};
    ++calls;
    if (calls % 2 == 0) return {.error = EINTR};
    return {.half_write = true};
  });
  const std::string text(1000, 'x');
  const auto written = sys::write_all(value_of(dir.create("a", 0600)).get(), text);
  sys::fault::set_hook({});
  REQUIRE(written);
  CHECK(calls > 4);
  CHECK(test::read_text(temp / "a") == text);
}

TEST_CASE("dir: what errors mean for the caller") {
  const TempDir temp;
  const auto dir = value_of(sys::Dir::open(temp.path()));
  const auto code_after = [&](int error) {
    sys::fault::set_hook([&](sys::fault::Op) -> sys::fault::Verdict { return {.error = error}; });
    const auto code = dir.sync().error().code;
    sys::fault::set_hook({});
    return code;
  };
  CHECK(code_after(EIO) == ErrorCode::kIo);
  CHECK(code_after(ENOSPC) == ErrorCode::kNoSpace);
  CHECK(code_after(EDQUOT) == ErrorCode::kNoSpace);
  CHECK(code_after(EROFS) == ErrorCode::kDenied);
  CHECK(code_after(EXDEV) == ErrorCode::kDenied);
  CHECK(code_after(EMFILE) == ErrorCode::kBusy);
}

TEST_CASE("dir: the filesystem has a name, and this one is local") {
  const TempDir temp;
  const auto fs = value_of(sys::filesystem_of(value_of(sys::Dir::open(temp.path()))));
  CHECK_FALSE(fs.name.empty());
  CHECK_FALSE(fs.is_network);
  const auto proc = value_of(sys::filesystem_of(value_of(sys::Dir::open("/proc"))));
  CHECK(proc.name == "proc");
  const auto root = value_of(sys::Dir::open("/"));
  CHECK(root.mount_id("proc") != root.mount_id_self());
}
