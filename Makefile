# SPDX-License-Identifier: MIT
# A thin menu: everything is done by common/workbook (Python) and CMake. `make help` lists it.
ifeq ($(filter 4.% 5.% 6.%,$(MAKE_VERSION)),)
$(error the workbook needs GNU make 4 or newer, and this is $(MAKE_VERSION): install a newer make (on macOS: brew install make, then gmake))
endif

# emulator (the default), gpu (this machine's card), or both.
DEVICE ?= emulator
export LESSONS COMMIT SECONDS_FOR_BENCH DEVICE TASK RUNG FORCE YES MUTANT NAME SAVE OUT PLAIN CASE THEME SOLUTION WORKBOOK_NVCC WORKBOOK_PYTHON \
	SHARE MORE NAMED SUBMISSIONS JOBS LIMITS POINTS TRUST FILE FORMAT SOLUTIONS LESSON PORT

WORKBOOK := sh common/workbook/run
NUMBERS := $(foreach tens,0 1 2 3 4 5 6 7 8 9,$(addprefix $(tens),0 1 2 3 4 5 6 7 8 9))

# Commands of their own name, and those with an argument: hint-02, explain-race-shared.
COMMANDS := next all python watch setup prepare progress skeletons outputs doctor format clean check-gpu bench bench-cost plots bench-loop bench-emulator grade-class book present
WITH_ARGUMENT := python hint solution reset picture sanitize demo mutant explain autograde

.DEFAULT_GOAL := next
.PHONY: $(COMMANDS) test test-all test-hardware test-sanitized help FORCE-IT $(NUMBERS)
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

# TESTS=name runs only the tests whose names match, SHARE=1/2 every second one, MORE=1 those that CI
# runs besides.
test:
	@$(WORKBOOK) test $(if $(TESTS),'$(TESTS)')

# Every answer of every lesson, every toolkit, other systems and processors: an hour or two.
test-all:
	@$(WORKBOOK) test-all
	@$(WORKBOOK) python tests/emulator/sanitized.py

# On a machine with a card: measure there, then compare. Without one: compare with what was measured.
test-hardware:
	@$(WORKBOOK) prepare
	@$(WORKBOOK) python tests/hardware/run.py all $(PARTS)

# The emulator's own tests under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer.
test-sanitized:
	@$(WORKBOOK) python tests/emulator/sanitized.py

help:
	@echo "make                 set up what is missing, grade the first unsolved lesson, say what is next"
	@echo "make 02              grade lesson 02; the exit status is the verdict"
	@echo "make all             grade every lesson that you have begun, in one table"
	@echo "make watch           grade each time you save; keys for hint, picture, explanation"
	@echo "make picture-02      draw what your kernels touch: build/pictures (CASE=words: of which test)"
	@echo "make progress        what you have reached"
	@echo "make hint-02         the next hint (TASK=k, RUNG=k choose one)"
	@echo "make explain-CODE    what a finding means, for instance make explain-race-shared"
	@echo "make solution-02     the solution, after passing (FORCE=1: before)"
	@echo "make reset-02        put the file back as it was (a copy of yours is kept)"
	@echo "make reset-all       put every file back; asks first, and keeps copies"
	@echo "make sanitize-02     the lesson under compute-sanitizer, on this machine's card"
	@echo "make check-gpu       every solution on this machine's card (for authors)"
	@echo "make demo-18         a lesson's ladder side by side, with counters and a figure; on a"
	@echo "                     card with times (OUT=folder for the figure)"
	@echo "make demo-18 MUTANT=missing_barrier   a wrong answer, as its author would see it"
	@echo "make mutant-18 NAME=missing_barrier   a wrong answer as a file to edit; the same again"
	@echo "                     grades it, SAVE=1 writes it to mutants.txt (for authors)"
	@echo "make grade-class SUBMISSIONS=folder OUT=folder   grade a class in sandboxes: reports for"
	@echo "                     you, a page for each student (LESSONS=\"02 18\", JOBS, LIMITS, POINTS)"
	@echo "make autograde-02 FILE=file FORMAT=json|gradescope|github|score   one file, in a sandbox,"
	@echo "                     for other systems; the exit status is the verdict"
	@echo "make book            a static site of all lessons: build/book (OUT=folder; SOLUTIONS=1)"
	@echo "make present         a page to project: pictures, ladders, the verdict as you edit"
	@echo "                     (LESSON=18 begins there, PORT=8018)"
	@echo "make python          install Numba, CuPy and PyCUDA, for the emulated device"
	@echo "make python-05       run the lesson's Python programs there (DEVICE=gpu: on a card)"
	@echo "make doctor          what was found on this machine"
	@echo "make test            the workbook's own tests (TESTS=name: only those; SHARE=1/2: half;"
	@echo "                     MORE=1: those that take longer; NAMED=1: wrong answers only in the"
	@echo "                     cases that their verdicts name)"
	@echo "make test-all        all of them: every answer, toolkits, other systems, sanitizers"
	@echo "make skeletons       write lessons/ anew from solutions/ (for authors)"
	@echo "make outputs         paste genuine output into README files and the tests (for authors)"
	@echo "make bench           every rung and the best libraries on this machine's card, about four"
	@echo "                     minutes, into plots/data/bench.csv (LESSONS=\"16 19\": only those)"
	@echo "make bench-cost      the emulated device's time beside a card's and one core's"
	@echo "make plots           draw all figures from plots/data, no card needed"
	@echo "make bench-emulator  how fast the emulated device is"
	@echo "make bench-loop      where the time from a save to the verdict goes"
	@echo "make test-hardware   the emulated device against a card, or a card's recorded results"
	@echo "make test-sanitized  the emulator's tests under the sanitizers (for authors)"
	@echo "make format          format the sources (for authors)"
	@echo "make clean           remove what was built; your work stays"
	@echo "PLAIN=1 after any of them: no colours and no symbols, for screen readers"
	@echo "DEVICE=emulator|gpu|both chooses where a lesson runs (default: emulator)"
