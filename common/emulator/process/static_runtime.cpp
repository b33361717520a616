// SPDX-License-Identifier: MIT
// Reads symbol tables from the files, since the tables with local names are not mapped. Runs in the
// audit library's namespace: no exceptions, no C++ library.
#include "process/static_runtime.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace emulator {
namespace {

// A symbol table of a file, with every offset checked.
class SymbolTable {
public:
    // `type`: SHT_DYNSYM or SHT_SYMTAB.
    SymbolTable(const char* path, uint32_t type) {
        const int file = open(path, O_RDONLY | O_CLOEXEC);
        if (file < 0) return;
        struct stat status {};
        if (fstat(file, &status) == 0 && status.st_size > long(sizeof(Elf64_Ehdr))) {
            void* const mapped =
                mmap(nullptr, size_t(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
            if (mapped != MAP_FAILED) {
                file_ = static_cast<const char*>(mapped);
                size_ = uint64_t(status.st_size);
            }
        }
        close(file);
        if (file_) find(type);
    }
    ~SymbolTable() {
        if (file_) munmap(const_cast<char*>(file_), size_);
    }
    SymbolTable(const SymbolTable&) = delete;
    SymbolTable& operator=(const SymbolTable&) = delete;

    uint64_t count() const { return count_; }
    const Elf64_Sym& symbol(uint64_t i) const { return symbols_[i]; }
    // "" for a name outside of the table.
    const char* name(uint64_t i) const {
        const uint64_t at = symbols_[i].st_name;
        return at < names_size_ && memchr(names_ + at, 0, names_size_ - at) ? names_ + at : "";
    }
    const Elf64_Sym* find_symbol(const char* wanted) const {
        for (uint64_t i = 0; i < count_; ++i)
            if (symbols_[i].st_shndx != SHN_UNDEF && std::strcmp(name(i), wanted) == 0)
                return &symbols_[i];
        return nullptr;
    }

private:
    bool is_inside(uint64_t offset, uint64_t bytes) const {
        return offset <= size_ && bytes <= size_ - offset;
    }
    void find(uint32_t type) {
        const auto& header = *reinterpret_cast<const Elf64_Ehdr*>(file_);
        if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
            header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shoff % 8 != 0 ||
            !is_inside(header.e_shoff, uint64_t(header.e_shnum) * sizeof(Elf64_Shdr)))
            return;
        const auto* const sections = reinterpret_cast<const Elf64_Shdr*>(file_ + header.e_shoff);
        for (unsigned i = 0; i < header.e_shnum; ++i) {
            const Elf64_Shdr& table = sections[i];
            if (table.sh_type != type || table.sh_link >= header.e_shnum) continue;
            const Elf64_Shdr& names = sections[table.sh_link];
            if (table.sh_offset % 8 != 0 || !is_inside(table.sh_offset, table.sh_size) ||
                !is_inside(names.sh_offset, names.sh_size))
                continue;
            symbols_ = reinterpret_cast<const Elf64_Sym*>(file_ + table.sh_offset);
            count_ = table.sh_size / sizeof(Elf64_Sym);
            names_ = file_ + names.sh_offset;
            names_size_ = names.sh_size;
        }
    }

    const char* file_ = nullptr;
    uint64_t size_ = 0;
    const Elf64_Sym* symbols_ = nullptr;
    uint64_t count_ = 0;
    const char* names_ = nullptr;
    uint64_t names_size_ = 0;
};

// The functions of one of the emulator's runtimes, sorted by name.
struct Function {
    const char* name;
    uint64_t address;
};
struct Runtime {
    const char* file;  // its name
    Function* functions = nullptr;
    size_t count = 0;

    const Function* find(const char* name) const {
        const Function key{name, 0};
        return count ? static_cast<const Function*>(
                           bsearch(&key, functions, count, sizeof key, by_name))
                     : nullptr;
    }
    static int by_name(const void* a, const void* b) {
        return std::strcmp(static_cast<const Function*>(a)->name,
                           static_cast<const Function*>(b)->name);
    }
};
// The newest first: a static runtime is led to the first one that has all of its functions.
Runtime runtimes[] = {{"libcudart.so.13"}, {"libcudart.so.12"}};

bool is_api_name(const char* name) {
    if (std::strncmp(name, "__", 2) == 0) name += 2;
    return std::strncmp(name, "cuda", 4) == 0 && name[4] >= 'A' && name[4] <= 'Z';
}

#if defined(__x86_64__)
constexpr size_t kJumpBytes = 14;
void write_jump(unsigned char* at, uint64_t target) {
    static const unsigned char kJump[6] = {0xff, 0x25, 0, 0, 0, 0};  // jmp *(%rip)
    std::memcpy(at, kJump, sizeof kJump);
    std::memcpy(at + sizeof kJump, &target, sizeof target);
}
#elif defined(__aarch64__)
constexpr size_t kJumpBytes = 16;
void write_jump(unsigned char* at, uint64_t target) {
    static const uint32_t kJump[2] = {0x58000050, 0xd61f0200};  // ldr x16, .+8; br x16
    std::memcpy(at, kJump, sizeof kJump);
    std::memcpy(at + sizeof kJump, &target, sizeof target);
    __builtin___clear_cache(reinterpret_cast<char*>(at), reinterpret_cast<char*>(at + kJumpBytes));
}
#endif

int by_address(const void* a, const void* b) {
    const uint64_t left = *static_cast<const uint64_t*>(a),
                   right = *static_cast<const uint64_t*>(b);
    return left < right ? -1 : left > right;
}

// The bytes from `address` to the next function, or to the end of its own if there is none.
uint64_t room_at(const uint64_t* starts, size_t count, const Elf64_Sym& symbol) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (starts[middle] <= symbol.st_value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count ? starts[low] - symbol.st_value : symbol.st_size;
}

void redirect(const SymbolTable& table, uint64_t base, const Runtime& runtime) {
    auto* const starts = static_cast<uint64_t*>(malloc(table.count() * sizeof(uint64_t)));
    if (!starts) return;
    size_t count = 0;
    for (uint64_t i = 0; i < table.count(); ++i)
        if (ELF64_ST_TYPE(table.symbol(i).st_info) == STT_FUNC && table.symbol(i).st_value)
            starts[count++] = table.symbol(i).st_value;
    qsort(starts, count, sizeof *starts, by_address);
    const uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
    for (uint64_t i = 0; i < table.count(); ++i) {
        const Elf64_Sym& symbol = table.symbol(i);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !symbol.st_value ||
            !is_api_name(table.name(i)) || room_at(starts, count, symbol) < kJumpBytes)
            continue;
        const Function* const found = runtime.find(table.name(i));
        if (!found) continue;
        const uint64_t at = base + symbol.st_value;
        const uint64_t begin = at / page * page;
        const uint64_t end = (at + kJumpBytes + page - 1) / page * page;
        if (mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_WRITE) != 0)
            continue;
        write_jump(reinterpret_cast<unsigned char*>(at), found->address);
        mprotect(reinterpret_cast<void*>(begin), end - begin, PROT_READ | PROT_EXEC);
    }
    free(starts);
}

}  // namespace

void note_own_library(const char* path, uint64_t base) {
    const char* const slash = std::strrchr(path, '/');
    for (Runtime& runtime : runtimes) {
        if (runtime.functions || std::strcmp(slash ? slash + 1 : path, runtime.file) != 0) continue;
        const SymbolTable table(path, SHT_DYNSYM);
        auto* const list = static_cast<Function*>(malloc((table.count() + 1) * sizeof(Function)));
        if (!list) return;
        size_t count = 0;
        for (uint64_t i = 0; i < table.count(); ++i) {
            if (table.symbol(i).st_shndx == SHN_UNDEF || !is_api_name(table.name(i))) continue;
            if (char* const name = strdup(table.name(i)))  // the file does not stay mapped
                list[count++] = {name, base + table.symbol(i).st_value};
        }
        qsort(list, count, sizeof *list, Runtime::by_name);
        runtime.functions = list;
        runtime.count = count;
    }
}

void redirect_static_runtime(const char* path, uint64_t base) {
    const SymbolTable table(path, SHT_SYMTAB);
    // Every copy of the runtime defines this function; a file that imports it has no copy.
    const Elf64_Sym* const sign = table.find_symbol("cudaGetDeviceCount");
    if (!sign || ELF64_ST_TYPE(sign->st_info) != STT_FUNC) return;
    const Runtime* chosen = nullptr;
    size_t fewest = SIZE_MAX;
    for (const Runtime& runtime : runtimes) {
        size_t missing = 0;
        for (uint64_t i = 0; i < table.count(); ++i)
            missing += ELF64_ST_TYPE(table.symbol(i).st_info) == STT_FUNC &&
                       table.symbol(i).st_shndx != SHN_UNDEF && is_api_name(table.name(i)) &&
                       !runtime.find(table.name(i));
        if (runtime.count && missing < fewest) {
            fewest = missing;
            chosen = &runtime;
        }
    }
    if (chosen) redirect(table, base, *chosen);
}

void write_text_variable(const char* path, uint64_t base, const char* name, const char* text) {
    const SymbolTable table(path, SHT_DYNSYM);
    const Elf64_Sym* const found = table.find_symbol(name);
    if (found && found->st_size > std::strlen(text))
        std::strcpy(reinterpret_cast<char*>(base + found->st_value), text);
}

}  // namespace emulator
