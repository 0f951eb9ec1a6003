// Purpose:    every bound of the reference receiver, with its unit in the name and its reason beside it. The receiver
// is
//             the outside truth of the tests, so it shares no bound with the product.
// Thread use: constants only.
#pragma once

#include <chrono>
#include <cstddef>

namespace intray::vault_receiver {

inline constexpr std::size_t kHeadBytesMax = 16 * 1024;         // what common HTTP servers accept
inline constexpr std::size_t kHeaderCountMax = 100;             // far above any client in use
inline constexpr std::size_t kBodyBytesMax = 32 * 1024 * 1024;  // a large note in which every byte became \u00XX
inline constexpr std::size_t kNoteBytesMax = 32 * 1024 * 1024;  // nothing larger can have been saved
inline constexpr std::size_t kReadChunkBytes = 64 * 1024;     // one recv() per readiness: no connection starves others
inline constexpr std::size_t kPipelinedBytesMax = 64 * 1024;  // kept unread while an earlier request is answered
inline constexpr std::size_t kConnectionsDefault = 1024;      // further clients wait in the accept queue

inline constexpr std::chrono::milliseconds kIdleDefault{5'000};        // as the public server: Keep-Alive: timeout=5
inline constexpr std::chrono::milliseconds kRequestTime{60'000};       // from a request's first byte to its last
inline constexpr std::chrono::milliseconds kSendTime{60'000};          // for a client that doesn't read its answer
inline constexpr std::chrono::milliseconds kDrainTime{2'000};          // reading on after a refusal, so that it arrives
inline constexpr std::chrono::milliseconds kStopGrace{5'000};          // for requests in work at SIGTERM
inline constexpr std::chrono::milliseconds kFaultDelayMax{3'600'000};  // one hour: longer is a typing error

inline constexpr std::size_t kSearchHitsMax = 100;
inline constexpr std::size_t kSearchFilesMax = 100'000;  // a search blocks everybody else meanwhile
inline constexpr int kSearchDepthMax = 64;               // one open directory each

inline constexpr std::size_t kFloodBytes = 8 * 1024 * 1024;  // far beyond what a careful client reads of an answer
inline constexpr std::size_t kFaultFileBytesMax = 64 * 1024;
inline constexpr std::size_t kCredentialBytesMax = 4096;

}  // namespace intray::vault_receiver
