// Purpose:    the settings that every easy handle gets once: what libcurl may do, and above all what it may not.
// Trust:      nothing of it comes from a job or from the environment.
// Thread use: one thread.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "receiver/client.h"
#include "receiver/descriptor_pool.h"

namespace intray::receiver {

// What the settings of all handles point to; must outlive them.
struct EasyContext {
  Options options;
  Endpoint endpoint;
  std::string host_header;  // as libcurl renders it: the port only where it is not the scheme's
  std::unique_ptr<curl_slist, void (*)(curl_slist*)> resolve{nullptr, &curl_slist_free_all};
};

// kInvalid: the URL, a limit, or the CA file's contents can't be used.
base::Result<EasyContext> make_easy_context(const Options& options);

// kUnsupported: this libcurl refuses a setting, named in `what`.
base::Result<void> apply_settings(CURL* easy, const EasyContext& context);

}  // namespace intray::receiver
