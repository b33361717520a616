// SPDX-License-Identifier: MIT
// Loads modules: variables get memory and initial values, functions and kernels are found by name.
#include "machine/program/module_image.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

#include "machine/observer.h"
#include "machine/program/liveness.h"
#include "ptx/demangle/demangle.h"

namespace machine {

namespace {

// The limit of ptxas for what a kernel declares, on every architecture; more is only available
// dynamically (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
constexpr uint64_t kMostSharedBytes = 48 << 10;
constexpr uint64_t kMostReachedBytes = 16 << 20;

// nvcc splits an array whose indexes are all constants into variables NAME_$_0, NAME_$_1 ...
int32_t part_of(std::string_view name) {
    const size_t at = name.rfind("_$_");
    if (at == std::string_view::npos) return -1;
    const std::string_view digits = name.substr(at + 3);
    int32_t part = -1;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), part);
    return error == std::errc() && end == digits.end() ? part : -1;
}

}  // namespace

ModuleImage::ModuleImage(std::unique_ptr<ptx::Module> module, Memory& memory, Observers& observers,
                         Linker& linker, uint64_t unit, int device,
                         const Machine::Variables* managed)
    : shared(linker.shared), module_(std::move(module)), memory_(memory), observers_(observers),
      linker_(linker), unit_(linker.units[unit]), device_(device), serial_(++linker.modules) {
    for (const auto& header : module_->functions()) {
        if (header.is_declaration || !header.is_exported) continue;
        const std::string name(header.name);
        if (header.is_weak && !header.is_entry) weak_.insert(name);
        publish(unit_.functions, name, this, header.is_weak);
    }
    try {
        place_variables(managed);
    } catch (...) {
        abandon();
        throw;
    }
}

template <class Table, class Value>
void ModuleImage::publish(Table& table, const std::string& name, Value value, bool is_weak) {
    const auto [known, fresh] = table.try_emplace(name, value);
    if (fresh && is_weak) unit_.weak.insert(name);
    if (fresh && !is_weak) unit_.weak.erase(name);
    if (!fresh && !is_weak && unit_.weak.erase(name)) known->second = value;
}

// Removes every reference to a module that could not be loaded.
void ModuleImage::abandon() {
    for (Allocation* a : placed_) {
        for (Observer* o : observers_.memory) o->on_free(*a);
        memory_.release(*a, 0);
    }
    unlink();
    for (Linker::Pointer& pointer : linker_.by_pointer)
        if (pointer.owner == this) pointer.owner = nullptr;
}

Code* Linker::at(size_t number) {
    if (number >= by_pointer.size() || !by_pointer[number].owner) return nullptr;
    return by_pointer[number].owner->code(by_pointer[number].name);
}

// Allocates memory with the initial value; addresses in it are stored later.
Allocation* ModuleImage::place(const ptx::Variable& variable) {
    const std::string name(variable.name);
    const MemoryKind kind = variable.space == ptx::Space::kConst ? MemoryKind::kConst
                            : variable.is_managed                ? MemoryKind::kManaged
                                                                 : MemoryKind::kModule;
    Allocation* a = memory_.allocate(kind,
                                     std::max<uint64_t>(variable.bytes, 1),
                                     device_,
                                     0,
                                     std::max<uint64_t>(256, variable.align));
    if (!a)
        throw ptx::ParseError("no memory for the device variable `" + name + "` (" +
                              std::to_string(variable.bytes) + " bytes)");
    placed_.push_back(a);
    a->name = ptx::demangled_variable(name);
    std::memset(a->host, 0, a->bytes);
    a->marked = false;
    std::copy_n(
        variable.initial.data(), std::min<size_t>(variable.initial.size(), a->bytes), a->host);
    for (Observer* o : observers_.memory) o->on_alloc(*a);
    return a;
}

// Variables in the .global or .const space that a function declares in its body: one instance each,
// which lives as long as the module.
uint64_t ModuleImage::function_variable(std::string_view function, uint32_t index,
                                        const ptx::Variable& variable) {
    Allocation*& a = function_variables_[std::string(function) + "/" + std::to_string(index)];
    if (!a) {
        a = place(variable);
        for (const ptx::SymbolFixup& fixup : variable.fixups)
            if (!store_address(*a, fixup)) linker_.pending.push_back({this, a, fixup});
    }
    return a->address;
}

void ModuleImage::place_variables(const Machine::Variables* managed) {
    std::vector<std::pair<const ptx::Variable*, Allocation*>> placed;
    for (const ptx::Variable& variable : module_->variables()) {
        if (variable.space != ptx::Space::kGlobal && variable.space != ptx::Space::kConst) continue;
        if (variable.is_extern || variable.is_texture || variable.is_surface) continue;
        const std::string name(variable.name);
        if (variable.space == ptx::Space::kGlobal && variable.is_managed && managed) {
            const auto found = managed->find(name);
            if (found != managed->end() && found->second->live) {
                variables_[name] = found->second;
                if (variable.is_exported) unit_.variables.try_emplace(name, found->second);
                continue;
            }
        }
        if (variable.is_weak) {
            weak_.insert(name);
            const auto known = unit_.variables.find(name);
            if (known != unit_.variables.end() && known->second->bytes >= variable.bytes) continue;
        }
        Allocation* a = place(variable);
        variables_[name] = a;
        if (variable.is_exported) publish(unit_.variables, name, a, variable.is_weak);
        placed.push_back({&variable, a});
    }
    for (const auto& [variable, a] : placed)
        for (const ptx::SymbolFixup& fixup : variable->fixups)
            if (!store_address(*a, fixup)) linker_.pending.push_back({this, a, fixup});
    std::erase_if(linker_.pending, [](const Linker::Pending& p) {
        return p.module->store_address(*p.variable, p.fixup);
    });
}

bool ModuleImage::store_address(Allocation& variable, const ptx::SymbolFixup& fixup) {
    uint64_t value;
    try {
        value = symbol_address(fixup.symbol) + uint64_t(fixup.addend);
    } catch (const UnsupportedPtx&) {
        return false;
    }
    value >>= fixup.shift;
    if (fixup.offset + fixup.bytes <= variable.bytes)
        std::memcpy(variable.host + fixup.offset, &value, std::min<size_t>(fixup.bytes, 8));
    return true;
}

const ptx::Variable* ModuleImage::module_shared(std::string_view name) const {
    for (const ptx::Variable& variable : module_->variables())
        if (variable.space == ptx::Space::kShared && variable.name == name) return &variable;
    return nullptr;
}

uint32_t ModuleImage::shared_index(const ptx::Variable& variable, std::string_view owner) {
    // All unsized arrays are the same dynamic part of shared memory, whatever their names are.
    const bool dynamic = variable.bytes == 0;
    const std::string key = dynamic ? std::string()
                                    : std::to_string(serial_) + "/" + std::string(owner) + "/" +
                                          std::string(variable.name);
    if (const auto found = linker_.shared_by_name.find(key);
        found != linker_.shared_by_name.end()) {
        if (dynamic) {
            uint32_t& align = linker_.shared_align[found->second];
            align = std::max(align, variable.align);
        }
        return found->second;
    }
    const uint32_t index = uint32_t(shared.size());
    if (variable.bytes > kMostSharedBytes)
        throw UnsupportedPtx("`" + ptx::demangled_variable(variable.name) + "` has " +
                             std::to_string(variable.bytes) + " bytes of shared memory, and " +
                             std::to_string(kMostSharedBytes) + " is the most");
    SharedVariable out;
    out.name = ptx::demangled_variable(variable.name);
    out.part = part_of(variable.name);
    out.function = ptx::function_of_variable(variable.name);
    out.bytes = uint32_t(variable.bytes);
    out.dynamic = dynamic;
    // Window 0 stays unused, so that a null shared pointer has no owner.
    const uint64_t window = index + 1;
    if (window >= 1u << (32 - kSharedWindowBits))
        throw UnsupportedPtx("more than 4094 shared variables in the program");
    out.address = (window << kSharedWindowBits) + (1u << (kSharedWindowBits - 1));
    shared.push_back(out);
    linker_.shared_align.push_back(std::max(variable.align, 1u));
    linker_.shared_by_name[key] = index;
    return index;
}

ModuleImage* ModuleImage::definer(std::string_view mangled) {
    const std::string name(mangled);
    const bool mine = std::any_of(
        module_->functions().begin(),
        module_->functions().end(),
        [&](const ptx::FunctionHeader& f) { return !f.is_declaration && f.name == mangled; });
    if (mine && !weak_.contains(name)) return this;
    const auto found = unit_.functions.find(name);
    if (found != unit_.functions.end()) return found->second;
    return mine ? this : nullptr;
}

Code* ModuleImage::code(std::string_view mangled) {
    const std::string name(mangled);
    if (const auto found = codes_.find(name); found != codes_.end()) return found->second.get();
    if (weak_.contains(name))
        if (ModuleImage* owner = definer(mangled); owner != this) return owner->code(mangled);
    const ptx::Function* function = module_->function(mangled);
    if (function && !function->is_declaration) {
        auto decoded = decode(*this, *function);
        return (codes_[name] = std::move(decoded)).get();
    }
    const auto other = unit_.functions.find(name);
    if (other == unit_.functions.end() || other->second == this) return nullptr;
    return other->second->code(mangled);
}

uint64_t ModuleImage::symbol_address(std::string_view mangled) {
    if (const Allocation* a = variable(mangled)) return a->address;
    const std::string name(mangled);
    ModuleImage* const owner = definer(mangled);
    if (!owner)
        throw UnsupportedPtx("the symbol `" + ptx::demangled_variable(mangled) +
                             "` is used but not defined");
    if (const auto found = owner->pointers_.find(name); found != owner->pointers_.end())
        return found->second;
    const size_t number = linker_.by_pointer.size();
    const uint64_t address = generic_base(kCodeTag) + number * 16;
    owner->pointers_[name] = address;
    linker_.by_pointer.push_back({owner, name});
    return address;
}

Allocation* ModuleImage::variable(std::string_view mangled) {
    const std::string name(mangled);
    const auto mine = variables_.find(name);
    if (mine != variables_.end() && !weak_.contains(name)) return mine->second;
    const auto found = unit_.variables.find(name);
    if (found != unit_.variables.end()) return found->second;
    return mine == variables_.end() ? nullptr : mine->second;
}

std::vector<Allocation*> ModuleImage::variables() {
    std::vector<Allocation*> out;
    for (const auto& [name, allocation] : variables_) out.push_back(allocation);
    for (const auto& [name, allocation] : function_variables_) out.push_back(allocation);
    return out;
}

void ModuleImage::unlink() {
    std::erase_if(unit_.functions, [&](const auto& entry) { return entry.second == this; });
    std::erase_if(unit_.variables, [&](const auto& entry) {
        return std::any_of(variables_.begin(), variables_.end(), [&](const auto& mine) {
            return mine.second == entry.second;
        });
    });
    std::erase_if(linker_.pending, [&](const auto& pending) { return pending.module == this; });
    variables_.clear();
    function_variables_.clear();
}

Kernel* ModuleImage::kernel(std::string_view mangled) {
    const std::string name(mangled);
    if (const auto found = kernels_.find(name); found != kernels_.end()) return found->second.get();
    for (const auto& header : module_->functions())
        if (header.is_entry && !header.is_declaration && header.name == mangled)
            return (kernels_[name] = std::make_unique<KernelImage>(*this, header)).get();
    return nullptr;
}

KernelImage::KernelImage(ModuleImage& module, const ptx::FunctionHeader& header)
    : module_(module), header_(header), mangled_(header.name),
      name_(ptx::plain_function(header.name)) {}

uint32_t KernelImage::parameter_bytes() const {
    uint32_t end = 0;
    for (const auto& p : header_.parameters) end = std::max(end, p.offset + p.bytes);
    return end;
}

Code& KernelImage::code() {
    if (!code_) code_ = module_.code(mangled_);
    if (!code_) throw UnsupportedPtx("kernel `" + name_ + "` has no body");
    return *code_;
}

ptx::SourceLine KernelImage::declared() {
    for (const ptx::Instruction& in : code().function->body)
        if (in.location) return module_.ptx().user_line(in.location);
    return {};
}

uint32_t KernelImage::local_bytes() {
    return code().local_bytes;
}
uint32_t KernelImage::registers() {
    // Not ptxas's allocation: the registers that are live at the same time, and some for addresses
    // and constants that ptxas adds.
    if (!registers_) {
        const ptx::Function& function = *code().function;
        registers_ = std::min(255u, Liveness(function).most_words(function) + 8);
    }
    return registers_;
}

std::vector<uint32_t> KernelImage::used_shared() {
    // Every variable that the kernel or a function it can reach refers to; calls through pointers
    // may reach any.
    std::set<uint32_t> used;
    std::set<Code*> seen;
    std::vector<Code*> todo{&code()};
    while (!todo.empty()) {
        Code* code = todo.back();
        todo.pop_back();
        if (!code || !seen.insert(code).second) continue;
        used.insert(code->shared.begin(), code->shared.end());
        for (const std::string& name : code->callees) todo.push_back(code->module->code(name));
        reaches_pointers_ |= code->calls_indirectly;
        if (code->calls_indirectly)
            for (size_t k = 0; k < module_.linker().by_pointer.size(); ++k)
                todo.push_back(module_.linker().at(k));
    }
    return {used.begin(), used.end()};
}

uint32_t KernelImage::static_shared_bytes() {
    uint32_t bytes = 0;
    layout(0, bytes);
    return bytes;
}

std::vector<SharedVariable> KernelImage::layout(uint32_t dynamic_bytes, uint32_t& bytes) {
    std::vector<SharedVariable> out;
    std::vector<uint32_t> order = used_shared();
    // As ptxas does: wider alignments first, the dynamic part last.
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        const auto& left = module_.shared[a];
        const auto& right = module_.shared[b];
        if (left.dynamic != right.dynamic) return right.dynamic;
        return module_.shared_align(a) > module_.shared_align(b);
    });
    uint64_t end = 0, fixed = 0;
    for (uint32_t index : order) {
        SharedVariable v = module_.shared[index];
        const uint32_t align = module_.shared_align(index);
        const uint64_t offset = (end + align - 1) / align * align;
        if (v.dynamic) v.bytes = dynamic_bytes;
        end = offset + v.bytes;
        if (!v.dynamic && !v.reserved) fixed = end;
        v.offset = uint32_t(offset);
        out.push_back(v);
    }
    refuse_shared(fixed);
    // Dynamic memory of the launch exists even if no variable refers to it.
    const bool named = std::any_of(out.begin(), out.end(), [](const auto& v) { return v.dynamic; });
    bytes = uint32_t(named ? end : end + dynamic_bytes);
    return out;
}

void KernelImage::refuse_shared(uint64_t bytes) const {
    // Calls through pointers may count functions that this kernel never calls.
    if (bytes <= (reaches_pointers_ ? kMostReachedBytes : kMostSharedBytes)) return;
    throw UnsupportedPtx("kernel `" + name_ + "` declares " + std::to_string(bytes) +
                         " bytes of shared memory, and " + std::to_string(kMostSharedBytes) +
                         " is the most: declare it `extern __shared__` and give the size at the "
                         "launch");
}

}  // namespace machine
