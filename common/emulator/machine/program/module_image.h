// SPDX-License-Identifier: MIT
// A PTX module placed in memory: its variables have addresses, its functions are decoded on first
// use.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "machine/machine.h"
#include "machine/program/code.h"

namespace machine {

class ModuleImage;

// Shared by all modules of one machine: -rdc programs call and read across modules.
struct Linker {
    // The names that modules linked together see of one another: .visible, .weak and .common, each
    // with its first definition; a definition that is not weak replaces a weak one. A module
    // searches its own names first, because names with internal linkage (string literals, static
    // variables) repeat between modules, except for its weak ones: the linked program has only one
    // of each.
    struct Unit {
        std::unordered_map<std::string, Allocation*> variables;
        std::unordered_map<std::string, ModuleImage*> functions;
        std::unordered_set<std::string> weak;  // replaced by a definition that is not weak
    };
    std::unordered_map<uint64_t, Unit> units;
    // Function addresses that were handed out, by number; decoded at the first call.
    struct Pointer {
        ModuleImage* owner;
        std::string name;
    };
    std::vector<Pointer> by_pointer;
    // Initialisers with a symbol of a module that is not loaded yet (-rdc).
    struct Pending {
        ModuleImage* module;
        Allocation* variable;
        ptx::SymbolFixup fixup;
    };
    std::vector<Pending> pending;
    // Shared variables of all modules, since a kernel may call into another one; a kernel uses a
    // subset.
    std::vector<SharedVariable> shared;
    std::vector<uint32_t> shared_align;
    std::unordered_map<std::string, uint32_t> shared_by_name;
    uint32_t modules = 0;     // loaded so far
    Code* at(size_t number);  // null: no such function
};

class ModuleImage final : public LoadedModule {
public:
    ModuleImage(std::unique_ptr<ptx::Module> module, Memory& memory, Observers& observers,
                Linker& linker, uint64_t unit, int device, const Machine::Variables* managed);

    Kernel* kernel(std::string_view mangled) override;
    Allocation* variable(std::string_view mangled) override;
    ptx::Module& ptx() override { return *module_; }
    std::vector<Allocation*> variables() override;
    void unlink() override;

    // The decoded function, of this module or another one of the machine; null if it is not
    // defined.
    Code* code(std::string_view mangled);
    // Whether a visible function of that name is loaded.
    bool is_defined(const std::string& mangled) const { return unit_.functions.contains(mangled); }
    // The address of a variable or function as an immediate; throws UnsupportedPtx when unknown.
    uint64_t symbol_address(std::string_view mangled);
    std::vector<SharedVariable>& shared;  // the linker's
    // The window of a shared variable, created on first use; `owner` is the function, empty at
    // module level.
    uint32_t shared_index(const ptx::Variable& variable, std::string_view owner);
    // The address of a .global or .const variable that a function declares; allocated on first use.
    uint64_t function_variable(std::string_view function, uint32_t index,
                               const ptx::Variable& variable);
    const ptx::Variable* module_shared(std::string_view name) const;
    Linker& linker() { return linker_; }

private:
    void place_variables(const Machine::Variables* managed);
    Allocation* place(const ptx::Variable& variable);
    // Stores an address for an initialiser; false if the symbol is not defined yet.
    bool store_address(Allocation& variable, const ptx::SymbolFixup& fixup);
    void abandon();
    // Makes a definition visible to the other modules; `table` is one of the unit's.
    template <class Table, class Value>
    void publish(Table& table, const std::string& name, Value value, bool is_weak);
    // The module whose definition of the function applies; null if there is none.
    ModuleImage* definer(std::string_view mangled);
    std::unique_ptr<ptx::Module> module_;
    Memory& memory_;
    Observers& observers_;
    Linker& linker_;
    Linker::Unit& unit_;
    std::unordered_map<std::string, std::unique_ptr<Kernel>> kernels_;
    std::unordered_map<std::string, std::unique_ptr<Code>> codes_;
    std::unordered_map<std::string, Allocation*> variables_;
    std::unordered_map<std::string, Allocation*> function_variables_;  // by function and number
    std::vector<Allocation*> placed_;  // those that this module has created
    std::unordered_map<std::string, uint64_t> pointers_;
    std::unordered_set<std::string> weak_;  // variables and functions, not kernels
    const int device_;
    const uint32_t serial_;

public:
    uint32_t shared_align(uint32_t index) const { return linker_.shared_align[index]; }
};

// A kernel of a module, with everything that a launch needs and that is the same for all launches.
class KernelImage final : public Kernel {
public:
    KernelImage(ModuleImage& module, const ptx::FunctionHeader& header);
    const std::string& mangled() const override { return mangled_; }
    const std::string& name() const override { return name_; }
    const std::vector<ptx::Parameter>& parameters() const override { return header_.parameters; }
    uint32_t parameter_bytes() const override;
    uint32_t max_threads() const override {
        return header_.max_threads ? header_.max_threads : 1024;
    }
    Dim3 required_block() const override {
        const auto& size = header_.required_block;
        return {size[0], size[1], size[2]};
    }
    uint32_t static_shared_bytes() override;
    uint32_t local_bytes() override;
    uint32_t registers() override;

    Code& code();
    ModuleImage& module() { return module_; }
    // The layout of shared memory for a launch with that many dynamic bytes; total in `bytes`.
    std::vector<SharedVariable> layout(uint32_t dynamic_bytes, uint32_t& bytes);
    ptx::SourceLine declared();

private:
    ModuleImage& module_;
    ptx::FunctionHeader header_;
    std::string mangled_, name_;
    Code* code_ = nullptr;
    bool reaches_pointers_ = false;  // valid after used_shared()
    uint32_t registers_ = 0;         // 0: not computed yet
    std::vector<uint32_t> used_shared();
    void refuse_shared(uint64_t bytes) const;
};

}  // namespace machine
