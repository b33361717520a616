// SPDX-License-Identifier: MIT
// A PTX module placed in memory: its variables have addresses, its functions decode on first use.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "machine/code.h"
#include "machine/machine.h"

namespace machine {

class ModuleImage;

// What all modules of one machine share: -rdc programs call and read across modules.
struct Linker {
    // What modules linked together see of one another: .visible, .weak and .common names, the first
    // definition of each; another one counts instead of a weak one. A module looks among its own
    // first, because names with internal linkage (string literals, static variables) repeat between
    // modules, unless its own is weak: of those, the linked program has one.
    struct Unit {
        std::unordered_map<std::string, Allocation*> variables;
        std::unordered_map<std::string, ModuleImage*> functions;
        std::unordered_set<std::string> weak;  // those that another definition would replace
    };
    std::unordered_map<uint64_t, Unit> units;
    // Function addresses handed out, by number; decoded when somebody calls through one.
    struct Pointer {
        ModuleImage* owner;
        std::string name;
    };
    std::vector<Pointer> by_pointer;
    // Initialisers that name a symbol of a module which is not loaded yet (-rdc).
    struct Pending {
        ModuleImage* module;
        Allocation* variable;
        ptx::SymbolFixup fixup;
    };
    std::vector<Pending> pending;
    // Shared variables of all modules, as a kernel may call into another one; a kernel uses a
    // subset.
    std::vector<SharedVariable> shared;
    std::vector<uint32_t> shared_align;
    std::unordered_map<std::string, uint32_t> shared_by_name;
    uint32_t modules = 0;     // ever loaded
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

    // The decoded function, here or in another module of the machine; null if nobody defines it.
    Code* code(std::string_view mangled);
    // Whether a visible function of that name has been loaded.
    bool is_defined(const std::string& mangled) const { return unit_.functions.contains(mangled); }
    // The address of a variable or function as an immediate; throws UnsupportedPtx when unknown.
    uint64_t symbol_address(std::string_view mangled);
    std::vector<SharedVariable>& shared;  // the linker's
    // The window of a shared variable, made on first use; `owner` is the function, empty at module
    // level.
    uint32_t shared_index(const ptx::Variable& variable, std::string_view owner);
    // The address of a .global or .const variable that a function declares; memory on first use.
    uint64_t function_variable(std::string_view function, uint32_t index,
                               const ptx::Variable& variable);
    const ptx::Variable* module_shared(std::string_view name) const;
    Linker& linker() { return linker_; }

private:
    void place_variables(const Machine::Variables* managed);
    Allocation* place(const ptx::Variable& variable);
    // Stores the address that an initialiser asks for; false when nobody defines the symbol yet.
    bool store_address(Allocation& variable, const ptx::SymbolFixup& fixup);
    void abandon();
    // Enters a definition for the other modules; `table` is one of the unit's.
    template <class Table, class Value>
    void publish(Table& table, const std::string& name, Value value, bool is_weak);
    // The module whose definition of the function counts; null if there is none.
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
    std::vector<Allocation*> placed_;  // of these, the ones that this module has made
    std::unordered_map<std::string, uint64_t> pointers_;
    std::unordered_set<std::string> weak_;  // variables and functions, not kernels
    const int device_;
    const uint32_t serial_;

public:
    uint32_t shared_align(uint32_t index) const { return linker_.shared_align[index]; }
};

// A kernel of a module with everything that a launch needs and that does not depend on the launch.
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
    // The layout of shared memory for a launch with so many dynamic bytes; total in `bytes`.
    std::vector<SharedVariable> layout(uint32_t dynamic_bytes, uint32_t& bytes);
    ptx::SourceLine declared();

private:
    ModuleImage& module_;
    ptx::FunctionHeader header_;
    std::string mangled_, name_;
    Code* code_ = nullptr;
    bool reaches_pointers_ = false;  // known after used_shared()
    uint32_t registers_ = 0;         // 0: not asked for yet
    std::vector<uint32_t> used_shared();
    void refuse_shared(uint64_t bytes) const;
};

}  // namespace machine
