# SPDX-License-Identifier: MIT
# Catch2's session: the library of version 3, or what Debian's package of version 2 holds compiled. To
# compile that one takes a core a quarter of a minute. It has a main function, which gets another name
# here. Where there is neither, common/harness/catch/catch_session.cpp compiles the session.
#
# WORKBOOK_CATCH_LIBRARY is the library to link, or empty. WORKBOOK_CATCH_RENAMED says that its main
# function is workbook_catch_main.
set(WORKBOOK_CATCH_LIBRARY "")
set(WORKBOOK_CATCH_RENAMED OFF)
get_target_property(catch_type Catch2::Catch2 TYPE)
if(NOT catch_type STREQUAL INTERFACE_LIBRARY)
    set(WORKBOOK_CATCH_LIBRARY $<TARGET_FILE:Catch2::Catch2>)
elseif(TARGET Catch2::Catch2WithMain AND CMAKE_OBJCOPY AND NOT CMAKE_CROSSCOMPILING)
    set(WORKBOOK_CATCH_RENAMED ON)
    set(WORKBOOK_CATCH_LIBRARY ${PROJECT_BINARY_DIR}/tests/libworkbook_catch.a)
    add_custom_command(OUTPUT ${WORKBOOK_CATCH_LIBRARY}
        COMMAND ${CMAKE_OBJCOPY} --redefine-sym main=workbook_catch_main
            $<TARGET_FILE:Catch2::Catch2WithMain> ${WORKBOOK_CATCH_LIBRARY}
        DEPENDS $<TARGET_FILE:Catch2::Catch2WithMain> VERBATIM)
    add_custom_target(workbook_catch_library DEPENDS ${WORKBOOK_CATCH_LIBRARY})
    target_link_libraries(Catch2::Catch2 INTERFACE ${WORKBOOK_CATCH_LIBRARY})
endif()
