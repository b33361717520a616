# SPDX-License-Identifier: MIT
"""The table of commands: what `make` offers, with which variables, and what carries it out.

The Makefile's lists, `make help` and README's table are written from it (author/command_lists.py).
"""

from __future__ import annotations

from dataclasses import dataclass

# What is set up before a command runs: nothing; the tool's own modules; all that a lesson needs;
# that and what a class, or one submission, needs besides.
NOTHING, MODULES, ALL, CLASS, SUBMISSION = "nothing", "modules", "all", "class", "submission"
# What follows a command's name, as in hint-02: a lesson's number, which may be left out, or be the
# word `all`; another word.
LESSON, LESSON_OR_NONE, LESSON_OR_ALL, WORD = "lesson", "[lesson]", "lesson|all", "word"


@dataclass(frozen=True)
class Use:
    """A way to use a command: what is typed, and what `make help` and README's table say of it. A
    text that is '' is left out there.
    """

    typed: str
    help: str
    page: str = ""


@dataclass(frozen=True)
class Command:
    """One row. `handler` is MODULE:FUNCTION within the package; the function gets the argument, if
    there is one, and returns the exit code. `variables` are those that a user may set.
    """

    name: str
    handler: str
    uses: tuple[Use, ...] = ()
    argument: str = ""
    variables: tuple[str, ...] = ()
    needs: str = ALL
    internal: str = ""  # its name for the tool, where that differs from make's
    has_json: bool = False  # takes --json
    on_card: bool = False  # as if DEVICE=gpu were set
    own_test: bool = False  # of the workbook's own tests: make itself says that it failed

    @property
    def called(self) -> str:
        """Its name for the tool."""
        return self.internal or self.name


# Understood by every command.
EVERYWHERE = ("DEVICE", "PLAIN", "PROBLEMS", "WORKBOOK_NVCC", "WORKBOOK_PYTHON")

COMMANDS = (
    Command(
        "next", "show.grading:grade_next", has_json=True,
        uses=(Use(
            "make",
            "set up what is missing, grade the first unsolved lesson, say what is next",
            "sets up what is missing, grades the first unsolved lesson, says what is next",
        ),),
    ),
    Command(
        "02", "show.grading:grade", argument=LESSON, internal="grade", has_json=True,
        uses=(Use(
            "make 02",
            "grade lesson 02; the exit status is the verdict",
            "grades lesson 02; the exit status is the verdict",
        ),),
    ),
    Command(
        "all", "show.grade_all:run",
        uses=(Use(
            "make all",
            "grade every lesson that you have begun, in one table",
            "grades every lesson that you have begun, in one table",
        ),),
    ),
    Command(
        "watch", "show.watch:run",
        uses=(Use(
            "make watch",
            "grade each time you save; keys for hint, picture, explanation",
            "grades a lesson each time you save it; `h` hint, `p` picture, `e` explanation, "
            "`s` solution, arrows scroll, `q` quit",
        ),),
    ),
    Command(
        "picture", "pictures.picture:make", argument=LESSON, variables=("CASE", "THEME"),
        uses=(Use(
            "make picture-02",
            "draw what your kernels touch: build/pictures (CASE=words: of which test)",
            "draws what your kernels touch: lanes and sectors, banks, warps by time, wrong "
            "elements, who wrote them",
        ),),
    ),
    Command(
        "progress", "show.screen:progress", needs=MODULES,
        uses=(Use("make progress", "what you have reached", "what you have reached"),),
    ),
    Command(
        "hint", "show.hints:hint", argument=LESSON, variables=("TASK", "RUNG"), needs=MODULES,
        uses=(Use(
            "make hint-02",
            "the next hint (TASK=k, RUNG=k choose one)",
            "a hint; the same again gives the next one (a question, a fact, the shape)",
        ),),
    ),
    Command(
        "explain", "show.explain:show", argument=WORD, needs=MODULES,
        uses=(Use(
            "make explain-CODE",
            "what a finding means, for instance make explain-race-shared",
            "what a finding means, with a minimal example",
        ),),
    ),
    Command(
        "solution", "show.hints:solution", argument=LESSON, variables=("FORCE",), needs=MODULES,
        uses=(Use(
            "make solution-02",
            "the solution, after passing (FORCE=1: before)",
            "the solution, once you have passed (`FORCE=1`: before that)",
        ),),
    ),
    Command(
        "reset", "show.resets:reset", argument=LESSON_OR_ALL, variables=("YES", "FORCE"),
        uses=(
            Use(
                "make reset-02",
                "put the file back as it was (a copy of yours is kept)",
                "puts the file back as it was; asks first, and keeps a copy of yours "
                "(`make reset-all`: every file)",
            ),
            Use("make reset-all", "put every file back; asks first, and keeps copies"),
        ),
    ),
    Command(
        "sanitize", "show.gpu:sanitize", argument=LESSON, variables=("SOLUTION",), on_card=True,
        uses=(Use(
            "make sanitize-02",
            "the lesson under compute-sanitizer, on this machine's card",
            "the lesson under NVIDIA's compute-sanitizer, on this machine's card",
        ),),
    ),
    Command(
        "check-gpu", "show.gpu:check_all", on_card=True,
        uses=(Use("make check-gpu", "every solution on this machine's card (for authors)"),),
    ),
    Command(
        "demo", "show.demo:run", argument=LESSON, variables=("MUTANT", "OUT"),
        uses=(
            Use(
                "make demo-18",
            "a lesson's ladder side by side, with counters and a figure; on a\n"
            "card with times (OUT=folder for the figure)",
                "for a class: a lesson's ladder side by side, with counters and a figure, on a "
                "card with times",
            ),
            Use(
                "make demo-18 MUTANT=missing_barrier",
                "a wrong answer, as its author would see it",
                "a wrong answer: what it changes, and the screen that its author would see",
            ),
        ),
    ),
    Command(
        "mutant", "author.answer_drafts:run", argument=LESSON, variables=("NAME", "SAVE"),
        uses=(Use(
            "make mutant-18 NAME=missing_barrier",
            "a wrong answer as a file to edit; the same again\n"
            "grades it, SAVE=1 writes it to mutants.txt (for authors)",
        ),),
    ),
    Command(
        "mutate", "author.mutate:run", argument=LESSON, variables=("JOBS",),
        uses=(Use(
            "make mutate-18",
            "small mistakes in the solution that no test notices (JOBS; for authors)",
        ),),
    ),
    Command(
        "grade-class", "teach.command:run", needs=CLASS,
        variables=("SUBMISSIONS", "OUT", "LESSONS", "JOBS", "LIMITS", "POINTS", "TRUST"),
        uses=(Use(
            "make grade-class SUBMISSIONS=folder OUT=folder",
            "grade a class in sandboxes: reports for\n"
            'you, a page for each student (LESSONS="02 18", JOBS, LIMITS, POINTS)',
            "grades a class in sandboxes ([below](#grade-a-class))",
        ),),
    ),
    Command(
        "autograde", "teach.autograde:run", argument=LESSON, needs=SUBMISSION,
        variables=("FILE", "FORMAT", "OUT", "LIMITS", "POINTS", "TRUST"),
        uses=(Use(
            "make autograde-02 FILE=file FORMAT=json|gradescope|github|score",
            "one file, in a sandbox,\n"
            "for other systems; the exit status is the verdict",
            "grades one file for [Gradescope, GitHub Classroom, nbgrader]"
            "(common/workbook/teach/autograders/README.md)",
        ),),
    ),
    Command(
        "book", "book.book:build", variables=("OUT", "SOLUTIONS"),
        uses=(Use(
            "make book",
            "a static site of all lessons: build/book (OUT=folder; SOLUTIONS=1)",
            "all lessons as a static site with search, in `build/book` "
            "([below](#the-book-and-the-projector))",
        ),),
    ),
    Command(
        "present", "show.present:run", variables=("LESSON", "PORT"),
        uses=(Use(
            "make present",
            "a page to project: pictures, ladders, the verdict as you edit\n"
            "(LESSON=18 begins there, PORT=8018)",
            "a page to project: pictures, ladders, and the verdict as you edit",
        ),),
    ),
    Command(
        "python", "running.python_programs:run", argument=LESSON_OR_NONE, internal="in-python",
        uses=(
            Use("make python", "install Numba, CuPy and PyCUDA, for the emulated device"),
            Use("make python-05", "run the lesson's Python programs there (DEVICE=gpu: on a card)"),
        ),
    ),
    Command(
        "doctor", "show.doctor:report", needs=NOTHING,
        uses=(Use(
            "make doctor",
            "what was found on this machine",
            "what was found on this machine, and whether lessons can be graded with it",
        ),),
    ),
    Command("setup", "setup.install:set_up", needs=NOTHING),
    Command("prepare", "build.folders:prepare_all"),
    Command(
        "test", "author.maintain:test", own_test=True,
        variables=("TESTS", "SHARE", "MORE", "NAMED"),
        uses=(Use(
            "make test",
            "the workbook's own tests (TESTS=name: only those; SHARE=1/2: half;\n"
            "MORE=1: those that take longer; NAMED=1: wrong answers only in the\n"
            "cases that their verdicts name)",
            "the workbook's own tests; they do not look at your work (`make test-all`: every one "
            "of them)",
        ),),
    ),
    Command(
        "test-all", "author.maintain:test_all", own_test=True,
        uses=(Use(
            "make test-all",
            "all of them: every answer, toolkits, other systems, sanitizers",
        ),),
    ),
    Command(
        "skeletons", "author.write_skeletons:run",
        uses=(Use("make skeletons", "write lessons/ anew from solutions/ (for authors)"),),
    ),
    Command(
        "outputs", "author.maintain:outputs",
        uses=(Use(
            "make outputs", "paste genuine output into README files and the tests (for authors)"
        ),),
    ),
    Command(
        "bench", "bench.measure:run", needs=NOTHING,
        variables=("LESSONS", "OUT", "SECONDS_FOR_BENCH", "COMMIT", "CUDA_AWARE_MPI"),
        uses=(Use(
            "make bench",
            "every rung and the best libraries on this machine's card, about four\n"
            'minutes, into plots/data/bench.csv (LESSONS="16 19": only those)',
            "with a card: every rung of every ladder and the best libraries, measured in one run",
        ),),
    ),
    Command(
        "bench-cost", "bench.cost:run", variables=("OUT",),
        uses=(Use(
            "make bench-cost", "the emulated device's time beside a card's and one core's"
        ),),
    ),
    Command(
        "plots", "bench.plots:draw", needs=NOTHING,
        uses=(Use(
            "make plots",
            "draw all figures from plots/data, no card needed",
            "draws all figures anew from `plots/data`, without a card; what to see: "
            "[plots/README.md](plots/README.md)",
        ),),
    ),
    Command(
        "bench-emulator", "author.maintain:bench_emulator",
        uses=(Use(
            "make bench-emulator",
            "how fast the emulated device is",
            "how fast the emulated device is",
        ),),
    ),
    Command(
        "bench-loop", "bench.loop:run",
        uses=(Use("make bench-loop", "where the time from a save to the verdict goes"),),
    ),
    Command(
        "test-hardware", "author.maintain:test_hardware", own_test=True, variables=("PARTS",),
        uses=(Use(
            "make test-hardware", "the emulated device against a card, or a card's recorded results"
        ),),
    ),
    Command(
        "test-sanitized", "author.maintain:test_sanitized", own_test=True, needs=NOTHING,
        uses=(Use(
            "make test-sanitized", "the emulator's tests under the sanitizers (for authors)"
        ),),
    ),
    Command(
        "format", "author.maintain:format_sources",
        uses=(Use("make format", "format the sources (for authors)"),),
    ),
    Command(
        "clean", "build.folders:clean", needs=NOTHING,
        uses=(Use("make clean", "remove what was built; your work stays"),),
    ),
    Command(
        "help", "author.command_lists:show_help", needs=NOTHING,
        uses=(Use("make help", "", "all of them"),),
    ),
)  # fmt: skip

# After the commands in `make help`.
NOTES = (
    "PLAIN=1 after any of them: no colours and no symbols, for screen readers",
    "DEVICE=emulator|gpu|both chooses where a lesson runs (default: emulator)",
)


def find(called: str) -> Command:
    """The row that the tool knows by this name."""
    return next(command for command in COMMANDS if command.called == called)


def variables() -> set[str]:
    """Every variable that some command understands."""
    return {name for command in COMMANDS for name in command.variables} | set(EVERYWHERE)
