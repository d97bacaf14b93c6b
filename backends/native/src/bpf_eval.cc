#include "bpf_eval.h"

#include <array>
#include <cstring>
#include <optional>

namespace aasm::backend_native {
namespace {

using schema::Error;
using schema::ErrorCode;
using schema::Result;

Error malformed(const char* what) {
  return Error(ErrorCode::kMalformed, what);
}

struct Machine {
  std::uint32_t a = 0;
  std::uint32_t x = 0;
  std::array<std::uint32_t, BPF_MEMWORDS> memory{};
  std::size_t next = 0;  // index of the next instruction
  std::optional<std::uint32_t> result;
};

Result<std::uint32_t> load_word(const sock_filter& op, const seccomp_data& call,
                                const Machine& machine) {
  switch (BPF_MODE(op.code)) {
    case BPF_ABS: {
      std::uint32_t word = 0;
      if (op.k % 4 != 0 || op.k > sizeof(call) - sizeof(word)) {
        return malformed("a load outside the call's data");
      }
      std::array<char, sizeof(call)> bytes{};
      std::memcpy(bytes.data(), &call, sizeof(call));
      std::memcpy(&word, bytes.data() + op.k, sizeof(word));
      return word;
    }
    case BPF_IMM:
      return op.k;
    case BPF_LEN:
      return static_cast<std::uint32_t>(sizeof(call));
    case BPF_MEM:
      if (op.k >= BPF_MEMWORDS) {
        return malformed("a load outside the scratch memory");
      }
      return machine.memory[op.k];
    default:
      return malformed("a load seccomp does not admit");
  }
}

Result<void> store(const sock_filter& op, std::uint32_t value, Machine* machine) {
  if (op.k >= BPF_MEMWORDS) {
    return malformed("a store outside the scratch memory");
  }
  machine->memory[op.k] = value;
  return {};
}

Result<void> arithmetic(const sock_filter& op, Machine* machine) {
  const bool by_register = BPF_SRC(op.code) == BPF_X;
  const std::uint32_t operand = by_register ? machine->x : op.k;
  switch (BPF_OP(op.code)) {
    case BPF_ADD:
      machine->a += operand;
      return {};
    case BPF_SUB:
      machine->a -= operand;
      return {};
    case BPF_MUL:
      machine->a *= operand;
      return {};
    case BPF_DIV:
      if (operand == 0 && !by_register) {
        return malformed("a division by zero");
      }
      if (operand == 0) {
        machine->result = 0;
        return {};
      }
      machine->a /= operand;
      return {};
    case BPF_AND:
      machine->a &= operand;
      return {};
    case BPF_OR:
      machine->a |= operand;
      return {};
    case BPF_XOR:
      machine->a ^= operand;
      return {};
    case BPF_LSH:
      machine->a <<= operand & 31U;
      return {};
    case BPF_RSH:
      machine->a >>= operand & 31U;
      return {};
    case BPF_NEG:
      machine->a = 0U - machine->a;
      return {};
    default:
      return malformed("an operation seccomp does not admit");
  }
}

Result<void> jump(const sock_filter& op, Machine* machine) {
  const std::uint32_t operand = BPF_SRC(op.code) == BPF_X ? machine->x : op.k;
  bool holds = false;
  switch (BPF_OP(op.code)) {
    case BPF_JA:
      machine->next += op.k;
      return {};
    case BPF_JEQ:
      holds = machine->a == operand;
      break;
    case BPF_JGT:
      holds = machine->a > operand;
      break;
    case BPF_JGE:
      holds = machine->a >= operand;
      break;
    case BPF_JSET:
      holds = (machine->a & operand) != 0;
      break;
    default:
      return malformed("a jump that does not exist");
  }
  machine->next += holds ? op.jt : op.jf;
  return {};
}

Result<void> step(const sock_filter& op, const seccomp_data& call, Machine* machine) {
  switch (BPF_CLASS(op.code)) {
    case BPF_LD:
      if (BPF_SIZE(op.code) != BPF_W) {
        return malformed("a load that is not 4 bytes wide");
      }
      machine->a = AASM_TRY(load_word(op, call, *machine));
      return {};
    case BPF_LDX:
      if (BPF_SIZE(op.code) != BPF_W || BPF_MODE(op.code) == BPF_ABS) {
        return malformed("a load seccomp does not admit");
      }
      machine->x = AASM_TRY(load_word(op, call, *machine));
      return {};
    case BPF_ST:
      return store(op, machine->a, machine);
    case BPF_STX:
      return store(op, machine->x, machine);
    case BPF_ALU:
      return arithmetic(op, machine);
    case BPF_JMP:
      return jump(op, machine);
    case BPF_RET:
      machine->result = BPF_RVAL(op.code) == BPF_A ? machine->a : op.k;
      return {};
    case BPF_MISC:
      if (BPF_MISCOP(op.code) == BPF_TAX) {
        machine->x = machine->a;
      } else {
        machine->a = machine->x;
      }
      return {};
    default:
      return malformed("an instruction that does not exist");
  }
}

}  // namespace

Result<std::uint32_t> evaluate_filter(std::span<const sock_filter> program,
                                      const seccomp_data& call) {
  Machine machine;
  while (!machine.result) {
    if (machine.next >= program.size()) {
      return malformed("the program runs over its end");
    }
    const sock_filter& op = program[machine.next];
    ++machine.next;
    AASM_TRY(step(op, call, &machine));
  }
  return *machine.result;
}

}  // namespace aasm::backend_native
