# Compile flags of the machine layer; included after its target exists.
#
# Handlers are loops over 32 lanes that the compiler must vectorise, so everything here is optimised
# whatever the build type. Never -ffast-math: results are bit-exact where PTX says so, and a product
# followed by a sum must not become one fused operation.
set(machine_flags -O3 -fno-math-errno -fno-trapping-math -ffp-contract=off)
set(machine_x86_64 OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(machine_x86_64 ON)
endif()
# Sanitizers judge the source, which is the same for each processor: one copy of it, and less
# optimisation, make that build three times as fast.
set(machine_levels newer newest)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    set(machine_levels)
    list(TRANSFORM machine_flags REPLACE "^-O3$" "-O1")
endif()
target_compile_options(emulator_machine PRIVATE
    ${machine_flags} $<$<BOOL:${machine_x86_64}>:-march=x86-64-v2>)

# The arithmetic is compiled three times on x86-64: like the rest for any processor since 2009
# (x86-64-v2, namespace `portable`), for those with AVX2 and FMA (x86-64-v3, namespace `newer`) and
# for those with AVX-512 (x86-64-v4, namespace `newest`); arith_select.cpp chooses at run time.
file(GLOB machine_arithmetic CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/arith_*.cpp)
list(REMOVE_ITEM machine_arithmetic ${CMAKE_CURRENT_LIST_DIR}/arith_select.cpp)
# Memory access and moves are lane loops too; lane_tables.cpp chooses for them.
foreach(file IN ITEMS access.cpp access_rows.cpp moves.cpp)
    list(APPEND machine_arithmetic ${CMAKE_CURRENT_LIST_DIR}/${file})
endforeach()
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/arith_rounded.cpp
    PROPERTIES COMPILE_OPTIONS -frounding-math)

if(machine_x86_64 AND machine_levels)
    foreach(level IN LISTS machine_levels)
        set(processor -march=x86-64-v3)
        if(level STREQUAL newest)
            set(processor -march=x86-64-v4 -mprefer-vector-width=512)
        endif()
        add_library(emulator_arithmetic_${level} OBJECT ${machine_arithmetic})
        target_link_libraries(emulator_arithmetic_${level} PRIVATE emulator_options)
        target_compile_definitions(emulator_arithmetic_${level} PRIVATE ARITH_NS=${level})
        target_compile_options(emulator_arithmetic_${level} PRIVATE ${machine_flags} ${processor})
        target_sources(emulator_machine PRIVATE $<TARGET_OBJECTS:emulator_arithmetic_${level}>)
    endforeach()
    set_property(SOURCE ${CMAKE_CURRENT_LIST_DIR}/arith_select.cpp
        ${CMAKE_CURRENT_LIST_DIR}/lane_tables.cpp
        APPEND PROPERTY COMPILE_DEFINITIONS ARITH_HAS_NEWER)
endif()
