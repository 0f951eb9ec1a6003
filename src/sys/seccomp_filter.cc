#include "sys/seccomp_filter.h"

#include <seccomp.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "limits.h"

namespace intray::sys {
namespace {

constexpr std::uint64_t kIntMax = 0x7fffffff;
static_assert((limits::kDescriptorsMax & (limits::kDescriptorsMax - 1)) == 0);  // blocks end there

class Builder {
 public:
  explicit Builder(const FilterTables& tables) : tables_(&tables), context_(::seccomp_init(SCMP_ACT_KILL_PROCESS)) {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;
  ~Builder() {
    if (context_ != nullptr) ::seccomp_release(context_);
  }

  FilterError build() {
    if (context_ == nullptr) return {"seccomp_init", "", 12};
    if (tables_->rule_count == 0) return {"an empty table", "", 22};
    // x32 and int 0x80 have numbers of their own, which nothing here was written for.
    if (const int e = ::seccomp_attr_set(context_, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS); e != 0)
      return {"bad architecture action", "", -e};
    if (const int e = ::seccomp_attr_set(context_, SCMP_FLTATR_CTL_TSYNC, 1); e != 0) return {"TSYNC", "", -e};
    // A binary tree: the time of a call does not depend on its place in the list.
    if (const int e = ::seccomp_attr_set(context_, SCMP_FLTATR_CTL_OPTIMIZE, 2); e != 0) return {"optimize", "", -e};
    if (FilterError e = add_all(tables_->rules, tables_->rule_count); e.step != nullptr) return e;
    return add_all(tables_->more_rules, tables_->more_rule_count);
  }
  scmp_filter_ctx context() { return context_; }

 private:
  FilterError add_all(const FilterRule* rules, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      if (FilterError e = add(rules[i]); e.step != nullptr) return e;
    return {};
  }

  FilterError add(const FilterRule& rule) {
    const char* const name = rule.call == nullptr ? "" : rule.call;
    const int number = rule.call == nullptr ? rule.number : ::seccomp_syscall_resolve_name(rule.call);
    if (number < 0) return {"unknown call", name, 38};
    scmp_arg_cmp compares[kFilterConditionsMax];  // NOLINT(*-avoid-c-arrays): what libseccomp takes
    return expand(rule, name, number, 0, compares);
  }

  // One rule for each combination of the values that the names stand for.
  // NOLINTNEXTLINE(misc-no-recursion): as deep as a call has arguments
  FilterError expand(const FilterRule& rule, const char* name, int number, std::uint8_t at, scmp_arg_cmp* compares) {
    if (at == rule.conditions) {
      const std::uint32_t action =
          rule.error == 0 ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(static_cast<std::uint32_t>(rule.error));
      const int e = ::seccomp_rule_add_exact_array(context_, action, number, rule.conditions, compares);
      return e == 0 ? FilterError{} : FilterError{"rule refused", name, -e};
    }
    const FilterCondition& condition = rule.condition[at];
    if (condition.name == nullptr) return expand_value(rule, name, number, at, compares, condition.value);
    bool found = false;
    for (std::size_t i = 0; i < tables_->value_count; ++i) {
      if (std::strcmp(tables_->values[i].name, condition.name) != 0) continue;
      found = true;
      if (FilterError e = expand_value(rule, name, number, at, compares, tables_->values[i].value); e.step != nullptr)
        return e;
    }
    return found ? FilterError{} : FilterError{"a name without a value", condition.name, 22};
  }

  // NOLINTNEXTLINE(misc-no-recursion)
  FilterError expand_value(const FilterRule& rule, const char* name, int number, std::uint8_t at,
                           scmp_arg_cmp* compares, std::uint64_t value) {
    const auto next = static_cast<std::uint8_t>(at + 1);
    const FilterCondition& condition = rule.condition[at];
    if (condition.compare != FilterCompare::kAbove) {
      compares[at] = compare(condition, value);
      return expand(rule, name, number, next, compares);
    }
    // The kernel looks at 32 bits of a descriptor, a comparison by size at 64: 2^32 + 3 is above 40, and closes 3. And
    // libseccomp compares an argument once in a rule. So: blocks of numbers that agree in their high bits, as far as
    // descriptors go; and what is negative as an int, however it was widened, which no descriptor is.
    if (value >= limits::kDescriptorsMax) return {"a descriptor out of range", name, 22};
    for (std::uint64_t low = value + 1; low < limits::kDescriptorsMax; low += low & (~low + 1)) {
      compares[at] = masked(condition, ~((low & (~low + 1)) - 1), low);
      if (FilterError e = expand(rule, name, number, next, compares); e.step != nullptr) return e;
    }
    const std::array<std::uint64_t, 2> negatives{kIntMax + 1, ~kIntMax};
    for (const std::uint64_t negative : negatives) {
      compares[at] = masked(condition, ~kIntMax, negative);
      if (FilterError e = expand(rule, name, number, next, compares); e.step != nullptr) return e;
    }
    return {};
  }

  static scmp_arg_cmp masked(const FilterCondition& condition, std::uint64_t mask, std::uint64_t value) {
    scmp_arg_cmp out{};
    out.arg = condition.argument;
    out.op = SCMP_CMP_MASKED_EQ;
    out.datum_a = mask;
    out.datum_b = value;
    return out;
  }

  static scmp_arg_cmp compare(const FilterCondition& condition, std::uint64_t value) {
    if (condition.compare == FilterCompare::kWithin) return masked(condition, ~value, 0);
    scmp_arg_cmp out{};
    out.arg = condition.argument;
    out.op = SCMP_CMP_EQ;
    out.datum_a = value;
    return out;
  }

  const FilterTables* tables_;
  scmp_filter_ctx context_;
};

}  // namespace

FilterError load_filter(const FilterTables& tables) {
  Builder builder(tables);
  if (FilterError e = builder.build(); e.step != nullptr) return e;
  if (const int e = ::seccomp_load(builder.context()); e != 0) return {"seccomp_load", "", -e};
  return {};
}

FilterError export_filter(const FilterTables& tables, int fd) {
  Builder builder(tables);
  if (FilterError e = builder.build(); e.step != nullptr) return e;
  if (const int e = ::seccomp_export_pfc(builder.context(), fd); e != 0) return {"seccomp_export_pfc", "", -e};
  return {};
}

FilterError export_filter_program(const FilterTables& tables, int fd) {
  Builder builder(tables);
  if (FilterError e = builder.build(); e.step != nullptr) return e;
  if (const int e = ::seccomp_export_bpf(builder.context(), fd); e != 0) return {"seccomp_export_bpf", "", -e};
  return {};
}

void call_name(int number, char* buffer, std::size_t size) {
  if (size == 0) return;
  buffer[0] = '\0';
  char* const name = ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
  if (name == nullptr) return;
  std::strncpy(buffer, name, size - 1);
  buffer[size - 1] = '\0';
  std::free(name);  // NOLINT(*-no-malloc,*-owning-memory): libseccomp's
}

}  // namespace intray::sys
