# SPDX-License-Identifier: MIT
# A thin menu: everything is done by common/workbook (Python) and CMake. `make help` lists it.
ifeq ($(filter 4.% 5.% 6.%,$(MAKE_VERSION)),)
$(error the workbook needs GNU make 4 or newer, and this is $(MAKE_VERSION): install a newer make (on macOS: brew install make, then gmake))
endif

# Variables given to make reach the commands as the environment: make passes them on by itself.
WORKBOOK := sh common/workbook/run
NUMBERS := $(foreach tens,0 1 2 3 4 5 6 7 8 9,$(addprefix $(tens),0 1 2 3 4 5 6 7 8 9))

# COMMANDS (goals of their own name), WITH_ARGUMENT (hint-02, explain-race-shared), OWN_TESTS, and
# what `make help` says: from the table in common/workbook/base/commands.py.
.DEFAULT_GOAL := next
include common/workbook/commands.mk
.PHONY: $(COMMANDS) $(OWN_TESTS) help FORCE-IT $(NUMBERS)
# Not under `make -n`, and not where nothing can be written.
QUIET := $(if $(findstring n,$(firstword -$(MAKEFLAGS))),,$(shell mkdir -p .workbook 2>/dev/null && test -w .workbook && echo yes))
MAKEFLAGS += --no-print-directory --no-builtin-rules
.NOTPARALLEL:

# $(call command,GOAL): what the goal means to common/workbook, where `python` starts an interpreter.
command = $(patsubst python,in-python,$(if $(filter $(NUMBERS),$1),grade $1,$(or $(filter $(COMMANDS),$1),$(foreach c,$(WITH_ARGUMENT),$(if $(filter $c-%,$1),$c $(patsubst $c-%,%,$1))))))

# A lesson that has not passed is no error of make's, and yet its exit status must say so. Under
# --question make ends with 1 and without `make: *** [Makefile:30: 02] Error 1` where a recipe is left
# to run; lines with `+` run all the same. So the first rule does the work and leaves a mark when it
# went well, and the second has a recipe only when there is no mark.
GOALS := $(filter $(NUMBERS) $(COMMANDS) $(addsuffix -%,$(WITH_ARGUMENT)),$(or $(MAKECMDGOALS),next))
ifneq ($(if $(filter-out $(GOALS),$(MAKECMDGOALS)),,$(QUIET)),)
MAKEFLAGS += --question
MARK := .workbook/went-well-$(shell echo $$PPID)
# Ctrl-C: the shell ends well, so make adds no line of its own to what the command said. It ends a
# moment after make has had the signal too: else make may miss its child.
run.%: FORCE-IT
	+@trap 'sleep 0.2; exit 0' INT; rm -f $(MARK); if $(WORKBOOK) $(call command,$*); then : > $(MARK); else rm -f $(MARK); fi
$(GOALS): %: run.%
	$(if $(shell test -e $(MARK) && rm -f $(MARK) && echo yes),,@exit 1)
else
$(NUMBERS) $(COMMANDS):
	@trap 'sleep 0.2; exit 0' INT; $(WORKBOOK) $(call command,$@)
$(addsuffix -%,$(WITH_ARGUMENT)): FORCE-IT
	@trap 'sleep 0.2; exit 0' INT; $(WORKBOOK) $(call command,$@)
endif

# make itself says when these fail: what ran before is the tests' own summary.
$(OWN_TESTS):
	@$(WORKBOOK) $@
