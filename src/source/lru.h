// Purpose:    a small least-recently-used map, bounded by number and by cost.
// Thread use: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>

namespace intray::source {

template <class Key, class Value, class Hash, class Equal>
class Lru {
 public:
  explicit Lru(std::size_t entries_max, std::size_t cost_max = SIZE_MAX)
      : entries_max_(entries_max), cost_max_(cost_max) {}

  // nullptr where it is not kept. Valid until the next insert().
  Value* find(const Key& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->value;
  }
  // The newest entry stays, whatever it costs; older ones go until the bounds hold.
  Value& insert(Key key, Value value, std::size_t cost = 1) {
    erase(key);
    entries_.push_front(Entry{std::move(key), std::move(value), cost});
    index_.emplace(entries_.front().key, entries_.begin());
    cost_ += cost;
    while (entries_.size() > 1 && (entries_.size() > entries_max_ || cost_ > cost_max_))
      erase(Key(entries_.back().key));
    return entries_.front().value;
  }
  void erase(const Key& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return;
    cost_ -= found->second->cost;
    entries_.erase(found->second);
    index_.erase(found);
  }
  void clear() {
    index_.clear();
    entries_.clear();
    cost_ = 0;
  }

 private:
  struct Entry {
    Key key;
    Value value;
    std::size_t cost;
  };
  std::size_t entries_max_;
  std::size_t cost_max_;
  std::size_t cost_ = 0;
  std::list<Entry> entries_;
  std::unordered_map<Key, typename std::list<Entry>::iterator, Hash, Equal> index_;
};

}  // namespace intray::source
