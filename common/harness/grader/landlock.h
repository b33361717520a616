// SPDX-License-Identifier: MIT
// Takes from the process what it could do to processes by way of /proc.
#pragma once

namespace wb::grader {

// From now on this process and its children cannot write to files in /proc, such as their own
// memory, machine code included (/proc/self/mem), and cannot look into processes outside of this
// one: the kernel lets only a process of the same Landlock domain do that. Where the kernel has no
// Landlock (before 5.13), nothing happens.
void protect_processes();

}  // namespace wb::grader
