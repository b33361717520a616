// SPDX-License-Identifier: MIT
// The page that is projected: slides of a lesson, and the verdict as it comes. Keys only.
"use strict";

const $ = (name) => document.getElementById(name);
const MARKS = {true: "✓", false: "✗", null: "–"};
let lessons = [], lesson, at = 0, follow = true, typed = "";
let scale = 1;
let steered = false;  // a key was pressed: what happened before no longer moves the page
const verdicts = {};  // by lesson's number: the last event about it

function make(parent, name, text = "", kind = "") {
  const node = document.createElement(name);
  if (text) node.textContent = text;
  if (kind) node.className = kind;
  parent.append(node);
  return node;
}

// A title, the figures, the verdict.
function slides() {
  return ["title", ...lesson.figures, "verdict"];
}

function showTitle(slide) {
  const title = make(slide, "p", lesson.goal, "title");
  make(title, "small", lesson.file);
}

function showFigure(slide, figure) {
  const image = make(slide, "img");
  image.src = `figures/${figure.name}`;
  image.alt = figure.text;
}

function showVerdict(slide) {
  const event = verdicts[lesson.number];
  if (!event) {
    make(slide, "p", `Save ${lesson.file}, or press r, to grade it.`);
    return;
  }
  if (event.state === "grading") {
    make(slide, "p", "Building and running …");
    return;
  }
  const text = make(slide, "pre");
  for (const line of event.lines) {
    const kind = /^\s*✓/.test(line) ? "right" : /^\s*✗/.test(line) ? "wrong" :
        /looks like:|help/.test(line) ? "hint" : "";
    make(text, "span", `${line}\n`, kind);
  }
}

function showGrades() {
  $("grades").replaceChildren();
  const event = verdicts[lesson.number];
  if (!event || event.state !== "graded") return;
  for (const [name, value] of event.grades) {
    make($("grades"), "span", `${name} ${MARKS[value]}`,
         value === null ? "" : value ? "right" : "wrong");
  }
  make($("grades"), "span", `${event.count[0]} of ${event.count[1]}`);
}

function show() {
  const all = slides();
  at = Math.max(0, Math.min(at, all.length - 1));
  const slide = $("slide"), what = all[at];
  slide.replaceChildren();
  slide.scrollTop = 0;
  if (what === "title") showTitle(slide);
  else if (what === "verdict") showVerdict(slide);
  else showFigure(slide, what);
  $("title").textContent = `${lesson.number} · ${lesson.title}`;
  document.title = $("title").textContent;
  $("place").textContent = `slide ${at + 1} of ${all.length}`;
  showGrades();
}

function open(to, slide = 0) {
  lesson = to;
  at = slide;
  show();
}

function step(by) {
  const place = lessons.indexOf(lesson) + by;
  if (lessons[place]) open(lessons[place]);
}

function resize(to) {
  scale = Math.max(0.5, Math.min(3, to));
  document.documentElement.style.setProperty("--scale", scale);
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
}

function digit(key) {
  typed = (typed + key).slice(-2);
  const found = lessons.find((one) => one.number === typed);
  if (typed.length === 2) {
    typed = "";
    if (found) open(found);
  }
  $("news").textContent = typed ? `lesson ${typed}_` : "";
}

const KEYS = {
  ArrowRight: () => { ++at; show(); },
  ArrowLeft: () => { --at; show(); },
  " ": () => { ++at; show(); },
  PageDown: () => { ++at; show(); },  // what remote controls send
  PageUp: () => { --at; show(); },
  ArrowDown: () => $("slide").scrollBy(0, $("slide").clientHeight / 3),
  ArrowUp: () => $("slide").scrollBy(0, -$("slide").clientHeight / 3),
  n: () => step(1),
  p: () => step(-1),
  v: () => { at = Infinity; show(); },
  r: () => fetch(`grade/${lesson.number}`, {method: "POST", headers: {"X-Present": "1"}}),
  a: () => {
    follow = !follow;
    $("news").textContent = follow ? "goes to the verdict of a saved file" : "stays on its slide";
  },
  "+": () => resize(scale * 1.15),
  "-": () => resize(scale / 1.15),
  "=": () => resize(1),
  t: () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
  f: () => document.fullscreenElement ? document.exitFullscreen()
                                      : document.documentElement.requestFullscreen(),
  "?": () => $("keys").open ? $("keys").close() : $("keys").showModal(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || !lesson) return;
  steered = true;
  if (/^\d$/.test(event.key)) {
    digit(event.key);
    return;
  }
  const act = KEYS[event.key] || KEYS[event.key.toLowerCase()];
  if (!act || ($("keys").open && event.key !== "?")) return;
  event.preventDefault();
  act();
});

function heard(event) {
  if (!event.lesson) return;
  verdicts[event.lesson] = event;
  const about = lessons.find((one) => one.number === event.lesson);
  if (event.state === "graded") {
    $("news").textContent = `lesson ${event.lesson}: ` +
        (event.passed ? "passes" : `${event.count[0]} of ${event.count[1]} pass`);
  } else {
    $("news").textContent = event.state === "grading" ? `lesson ${event.lesson}: running …`
                                                      : event.lines[0];
  }
  if (follow && about && !(event.old && steered)) open(about, Infinity);
  else if (about === lesson) show();
}

setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
fetch("slides.json").then((answer) => answer.json()).then((data) => {
  lessons = data.lessons;
  open(lessons.find((one) => one.number === data.first));
  $("slide").focus();
  const events = new EventSource("events");
  events.onmessage = (message) => heard(JSON.parse(message.data));
  events.onerror = () => { $("news").textContent = "make present has ended, or is not reachable"; };
});
