# Compile flags of the machine layer; included after its target exists.
#
# Handlers are loops over 32 lanes that the compiler must vectorise, so they are optimised whatever
# the build type. Never -ffast-math: results are bit-exact where PTX says so, and a product followed
# by a sum must not become one fused operation.
set(machine_flags -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off)
# Sanitizers judge the source, which is the same for each processor: less optimisation makes that
# build three times as fast.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    list(TRANSFORM machine_flags REPLACE "^-O3$" "-O1")
endif()

# The handlers are compiled once per processor level of the x86-64 psABI, each time into a namespace
# of its own. One is part of the layer, others are linked in beside it or not, and levels.cpp chooses
# at run time among those that are there.
file(GLOB machine_handlers CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/lanes/arith_*.cpp)
foreach(file IN ITEMS access.cpp access_rows.cpp moves.cpp specials.cpp level_tables.cpp)
    list(APPEND machine_handlers ${CMAKE_CURRENT_LIST_DIR}/lanes/${file})
endforeach()
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/lanes/arith_rounded.cpp
    PROPERTIES COMPILE_OPTIONS -frounding-math)
# Few programs use these instructions: three quarters of the time to compile.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/lanes/arith_video.cpp
    PROPERTIES COMPILE_OPTIONS -O2)

set(machine_levels baseline)  # in ascending order
if(emulator_is_x86_64)
    set(machine_levels x86_64_v2)
    if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
        list(APPEND machine_levels x86_64_v3 x86_64_v4)
    endif()
endif()
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/platform/processor.cpp
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(emulator_is_x86_64)  # it must run on every processor
    set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/platform/processor.cpp
        PROPERTIES COMPILE_OPTIONS -march=x86-64)
endif()

# By default the level of the processor that builds; `make` builds another one's where the folder has
# moved to a machine that has another.
set(EMULATOR_LEVELS native CACHE STRING "Processor levels: native, all, or a list, x86_64_v2 to x86_64_v4")
if(EMULATOR_LEVELS STREQUAL "all")
    set(linked_levels ${machine_levels})
elseif(EMULATOR_LEVELS STREQUAL "native")
    if(emulator_is_x86_64 AND NOT CMAKE_CROSSCOMPILING AND NOT DEFINED EMULATOR_NATIVE_LEVEL)
        try_run(level_ran level_compiled ${CMAKE_CURRENT_BINARY_DIR}/level
            ${PROJECT_SOURCE_DIR}/common/cmake/print_level.cpp
            CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${CMAKE_CURRENT_SOURCE_DIR}
            RUN_OUTPUT_VARIABLE level_name)
        string(STRIP "${level_name}" level_name)
        string(REPLACE "-" "_" level_name "${level_name}")
        set(EMULATOR_NATIVE_LEVEL "${level_name}" CACHE INTERNAL "The level of this processor")
    endif()
    set(linked_levels ${EMULATOR_NATIVE_LEVEL})
    if(NOT linked_levels IN_LIST machine_levels)
        list(GET machine_levels 0 linked_levels)
    endif()
else()
    set(linked_levels ${EMULATOR_LEVELS})
endif()
foreach(level IN LISTS linked_levels)
    if(NOT level IN_LIST machine_levels)
        message(FATAL_ERROR "EMULATOR_LEVELS names ${level}, and the levels here are: ${machine_levels}")
    endif()
endforeach()

# machine_level(NAME FLAGS...): the handlers, compiled with these flags into namespace NAME.
function(machine_level name)
    add_library(emulator_${name} OBJECT EXCLUDE_FROM_ALL ${machine_handlers})
    target_link_libraries(emulator_${name} PRIVATE emulator_options)
    target_compile_definitions(emulator_${name} PRIVATE LEVEL_NS=${name})
    # A call that is guessed to go to a base class would leave that class's inline function here.
    target_compile_options(emulator_${name} PRIVATE
        ${machine_flags} ${ARGN} -fno-devirtualize-speculatively)
    # Half the time to compile, for a processor that only the tests imitate here.
    if(name STREQUAL x86_64_v2 AND NOT name IN_LIST linked_levels)
        target_compile_options(emulator_${name} PRIVATE -O1)
    endif()
    emulator_unity(emulator_${name} 6)
endfunction()
foreach(level IN LISTS machine_levels)
    set(processor)
    if(emulator_is_x86_64)
        string(REGEX REPLACE "x86_64_v" "-march=x86-64-v" processor ${level})
    endif()
    if(level STREQUAL x86_64_v4)
        list(APPEND processor -mprefer-vector-width=512)
    endif()
    machine_level(${level} ${processor})
endforeach()

# The lowest that was chosen is part of the layer.
foreach(level IN LISTS machine_levels)
    if(level IN_LIST linked_levels)
        set(own_level ${level})
        break()
    endif()
endforeach()
target_sources(emulator_machine PRIVATE $<TARGET_OBJECTS:emulator_${own_level}>)
# A file of its own, so that a folder that two kinds of machines share needs no more than to link
# when it changes hands: both levels' objects stay.
set(own_level_file ${CMAKE_CURRENT_BINARY_DIR}/own_level.cpp)
file(CONFIGURE OUTPUT ${own_level_file} @ONLY CONTENT [[
// Which level belongs to this library; see machine/lanes/levels.cpp.
namespace machine {
struct LevelTables;
namespace @own_level@ {
const LevelTables& own_tables();
}
const LevelTables& own_tables();
const LevelTables& own_tables() {
    return @own_level@::own_tables();
}
}  // namespace machine
]])
target_sources(emulator_machine PRIVATE ${own_level_file})

# What a program or a library links to have the others.
add_library(emulator_chosen_levels INTERFACE)
foreach(level IN LISTS linked_levels)
    if(NOT level STREQUAL own_level)
        target_sources(emulator_chosen_levels INTERFACE $<TARGET_OBJECTS:emulator_${level}>)
    endif()
endforeach()
# And the tests': those that this processor has, or qemu's. The one for AVX-512 takes a minute to
# compile, and elsewhere nothing could run it.
set(tested_levels ${machine_levels})
if(EMULATOR_LEVELS STREQUAL "native" AND NOT EMULATOR_NATIVE_LEVEL STREQUAL "x86_64_v4")
    list(REMOVE_ITEM tested_levels x86_64_v4)
endif()
add_library(emulator_tested_levels INTERFACE)
foreach(level IN LISTS tested_levels)
    if(NOT level STREQUAL own_level)
        target_sources(emulator_tested_levels INTERFACE $<TARGET_OBJECTS:emulator_${level}>)
    endif()
endforeach()
