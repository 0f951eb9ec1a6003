#include "cli/new_files.h"

#include <algorithm>

namespace intray::cli {
namespace {

using base::ErrorCode;

constexpr std::size_t kNamesPerRead = 1'000;

// Jobs by age, then everything else by bytes.
bool older(const NewFile& a, const NewFile& b) {
  if (a.job.has_value() != b.job.has_value()) return a.job.has_value();
  return a.name < b.name;
}

template <class Each>
base::Result<void> each_name(const std::string& path, const Each& each) {
  const sys::Dir dir = INTRAY_TRY(sys::Dir::open(path));
  sys::DirStream stream = INTRAY_TRY(dir.stream());
  while (true) {
    std::vector<std::string> names = INTRAY_TRY(stream.next(kNamesPerRead));
    if (names.empty()) return {};
    for (std::string& name : names) each(std::move(name));
  }
}

std::string place(const std::string& root, model::JobKind kind, const char* name) {
  return root + "/" + std::string(model::to_word(kind)) + "/" + name;
}

void look(const sys::Dir& dir, NewFile& file, NewFiles& out) {
  auto info = dir.stat(file.name);
  if (info)
    file.info = *info;
  else if (info.error().code == ErrorCode::kNotFound)
    ++out.vanished;
  else
    ++out.unreadable;
}

}  // namespace

NewFiles look_at_new(const std::string& root, model::JobKind kind, std::size_t keep) {
  NewFiles out;
  const std::string fresh = place(root, kind, "new");
  auto read = each_name(fresh, [&](std::string name) {
    ++out.seen;
    if (keep == 0) return;
    NewFile file{.name = std::move(name), .job = std::nullopt, .info = std::nullopt};
    file.job = inbox::JobName::parse(file.name);
    // A heap with the youngest on top holds the oldest in bounded room.
    if (out.oldest.size() == keep) {
      if (!older(file, out.oldest.front())) return;
      std::ranges::pop_heap(out.oldest, older);
      out.oldest.pop_back();
    }
    out.oldest.push_back(std::move(file));
    std::ranges::push_heap(out.oldest, older);
  });
  if (!read) out.errors.push_back(std::move(read).error());
  std::ranges::sort_heap(out.oldest, older);
  if (auto dir = sys::Dir::open(fresh))
    for (NewFile& file : out.oldest) look(*dir, file, out);
  if (auto counted = each_name(place(root, kind, "tmp"), [&](const std::string&) { ++out.in_tmp; }); !counted)
    out.errors.push_back(std::move(counted).error());
  return out;
}

base::Result<std::vector<NewFile>> find_new(const std::string& root, model::JobKind kind, const std::string& prefix,
                                            std::size_t max) {
  std::vector<NewFile> out;
  INTRAY_TRY(each_name(place(root, kind, "new"), [&](std::string name) {
    auto job = inbox::JobName::parse(name);
    if (job && out.size() < max && job->job_id.str().starts_with(prefix))
      out.push_back({.name = std::move(name), .job = job, .info = std::nullopt});
  }));
  return out;
}

std::string describe(const NewFile& file) {
  if (!file.info) return "vanished";
  switch (file.info->type) {
    case sys::FileType::kRegular: break;
    case sys::FileType::kDirectory: return "a directory, no job: an admin must remove it";
    case sys::FileType::kSymlink: return "a symbolic link, no job";
    case sys::FileType::kFifo: return "a named pipe, no job";
    case sys::FileType::kSocket: return "a socket, no job";
    case sys::FileType::kDevice: return "a device, no job";
  }
  return file.job ? "" : "not the name of a job";
}

}  // namespace intray::cli
