// SPDX-License-Identifier: MIT
// The interactive views: draws what book_views.py has read from traces, and steps through it.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 640;  // of every drawing, in its own units

function make(parent, name, attributes = {}, text = "") {
  const svg = ["svg", "rect", "line", "text", "title", "g"].includes(name);
  const node = svg ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text) node.textContent = text;
  parent.append(node);
  return node;
}

function plural(count, word) {
  if (count === 1) return `1 ${word}`;
  return `${count} ${word.endsWith("s") ? word + "es" : word + "s"}`;
}

function lines(numbers) {
  return numbers.length === 1 ? `line ${numbers[0]}` : `lines ${numbers.join(", ")}`;
}

// [3, 4, 5, 9] -> "3 to 5, 9"
function ranges(numbers) {
  const parts = [];
  for (const one of numbers) {
    const last = parts[parts.length - 1];
    if (last && last[1] === one - 1) last[1] = one;
    else parts.push([one, one]);
  }
  const shown = parts.slice(0, 4).map(([a, b]) => (a === b ? `${a}` : `${a} to ${b}`));
  return shown.join(", ") + (parts.length > 4 ? " and more" : "");
}

// --- from barrier to barrier ---

function drawBarriers(svg, step) {
  const columns = 32, size = WIDTH / columns, rows = Math.ceil(step.elements / columns);
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${rows * size}`);
  const reads = new Set(step.reads), writes = new Set(step.writes);
  const conflicts = new Set(step.conflicts);
  for (let at = 0; at < step.elements; ++at) {
    const x = (at % columns) * size, y = Math.floor(at / columns) * size;
    const kind = writes.has(at) ? "write" : reads.has(at) ? "read" : "idle";
    make(svg, "rect", {x: x + 1, y: y + 1, width: size - 2, height: size - 2, class: kind});
    if (writes.has(at) && reads.has(at)) {
      make(svg, "rect", {x: x + 6, y: y + 6, width: size - 12, height: size - 12, class: "read"});
    }
    if (conflicts.has(at)) {
      make(svg, "line", {x1: x + 2, y1: y + 2, x2: x + size - 2, y2: y + size - 2, class: "bad"});
      make(svg, "line", {x1: x + size - 2, y1: y + 2, x2: x + 2, y2: y + size - 2, class: "bad"});
    }
  }
}

function tellBarriers(step) {
  const when = step.passed ? `After barrier ${step.passed}` : "Before the first barrier";
  const done = [];
  if (step.reads.length) done.push(`read ${step.name}[${ranges(step.reads)}]`);
  if (step.writes.length) done.push(`write ${step.name}[${ranges(step.writes)}]`);
  const who = `${plural(step.threads, "thread")} of ${plural(step.warps, "warp")}`;
  let text = `${when}, ${lines(step.lines)}: ${who} ${done.join(" and ")}.`;
  if (step.conflicts.length) {
    text += ` Race: ${plural(step.conflicts.length, "element")} ` +
        "written and used by different warps with no barrier in between.";
  }
  return text;
}

// --- lanes to sectors ---

function drawSectors(svg, step) {
  const height = 180, lane = WIDTH / 32, box = WIDTH / Math.max(8, step.sectors.length);
  svg.setAttribute("viewBox", `0 -14 ${WIDTH} ${height + 14}`);
  const place = new Map(step.sectors.map(([sector], at) => [sector, at]));
  step.lanes.forEach((number, at) => {
    const sector = place.get(Math.floor(step.offsets[at] / 32));
    if (sector === undefined) return;
    const within = ((step.offsets[at] % 32) + step.bytes / 2) / 32;
    make(svg, "line", {x1: (number + 0.5) * lane, y1: 40, x2: (sector + within) * box, y2: 120,
                       class: "link"});
  });
  for (let number = 0; number < 32; ++number) {
    const active = step.lanes.includes(number);
    make(svg, "rect", {x: number * lane + 1, y: 20, width: lane - 2, height: 20,
                       class: active ? "read" : "idle"});
    if (number % 8 === 0) make(svg, "text", {x: (number + 0.5) * lane, y: 14}, `${number}`);
  }
  step.sectors.forEach(([sector], at) => {
    make(svg, "rect", {x: at * box + 1, y: 120, width: box - 2, height: 30, class: "idle"});
    if (step.sectors.length <= 8 || at % 8 === 0) {
      make(svg, "text", {x: (at + 0.5) * box, y: 170}, `${sector}`);
    }
  });
  // The bytes that lanes ask for, where they lie in their sectors.
  for (const offset of step.offsets) {
    const at = place.get(Math.floor(offset / 32));
    if (at === undefined) continue;
    make(svg, "rect", {x: at * box + 1 + (box - 2) * (offset % 32) / 32, y: 120,
                       width: (box - 2) * step.bytes / 32, height: 30, class: "write"});
  }
}

function tellSectors(step) {
  const used = step.sectors.reduce((sum, [, bytes]) => sum + bytes, 0);
  const moved = 32 * step.sectors.length;
  return `Line ${step.line}, warp ${step.warp}: ${plural(step.lanes.length, "lane")} ` +
      `${step.kind} ${step.bytes} bytes each, in ${step.name}. ` +
      `${plural(step.sectors.length, "sector")}: ${moved} bytes move, ${used} are used ` +
      `(${Math.round(100 * used / moved)} %).`;
}

// --- banks ---

function drawBanks(svg, step) {
  const bank = WIDTH / 32, words = Array.from({length: 32}, () => []);
  for (const offset of step.offsets) {
    const word = Math.floor(offset / 4);
    if (!words[word % 32].includes(word)) words[word % 32].push(word);
  }
  const deep = Math.max(8, ...words.map((one) => one.length)), size = 160 / deep;
  svg.setAttribute("viewBox", `0 -14 ${WIDTH} 198`);
  words.forEach((wanted, at) => {
    make(svg, "rect", {x: at * bank + 1, y: 20, width: bank - 2, height: 160, class: "idle"});
    wanted.forEach((word, pass) => {
      make(svg, "rect", {x: at * bank + 1, y: 20 + pass * size, width: bank - 2, height: size - 1,
                         class: pass ? "again" : "write"});
    });
    if (at % 8 === 0) make(svg, "text", {x: (at + 0.5) * bank, y: 14}, `${at}`);
  });
}

function tellBanks(step) {
  const words = step.offsets.map((offset) => Math.floor(offset / 4));
  const banks = new Set(words.map((word) => word % 32));
  return `Line ${step.line}, warp ${step.warp}: ${plural(step.lanes.length, "lane")} ` +
      `${step.kind} a word of ${step.name} each (${ranges(words)}), ` +
      `in ${plural(banks.size, "bank")}: ${plural(step.passes, "pass")}.`;
}

const KINDS = {
  barriers: {draw: drawBarriers, tell: tellBarriers,
             caption: "The elements of the variable, 32 in a row.",
             legend: [["read", "read"], ["write", "written"], ["both", "read and written"],
                      ["bad", "race"]]},
  sectors: {draw: drawSectors, tell: tellSectors,
            caption: "Above: the 32 lanes of a warp. Below: the sectors of 32 bytes that move.",
            legend: [["read", "lane that asks"], ["write", "bytes used"], ["idle", "not used"]]},
  banks: {draw: drawBanks, tell: tellBanks,
          caption: "32 banks. Below one another: different words of one bank, a pass each.",
          legend: [["write", "first pass"], ["again", "further passes"]]},
};

function show(root, data, number) {
  const kind = KINDS[data.kind];
  let program = data.programs[0], at = 0;
  root.querySelector(".wb-without").remove();
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", data.title);

  const choices = make(root, "fieldset");
  make(choices, "legend", {}, "Program");
  data.programs.forEach((one, index) => {
    const label = make(choices, "label");
    const button = make(label, "input", {type: "radio", name: `wb-program-${number}`});
    button.checked = index === 0;
    label.append(" " + one.text);
    button.addEventListener("change", () => {
      program = one;
      go(Math.min(at, one.steps.length - 1));
    });
  });
  const launch = make(root, "p", {class: "wb-launch"});
  const svg = make(root, "svg", {role: "img"});
  const title = make(svg, "title");
  make(root, "p", {class: "wb-caption"}, kind.caption);
  const said = make(root, "p", {class: "wb-said", "aria-live": "polite"});

  const controls = make(root, "div", {class: "wb-controls"});
  const back = make(controls, "button", {type: "button"}, "Back");
  const next = make(controls, "button", {type: "button"}, "Next");
  const label = make(controls, "label", {}, "Step ");
  const slider = make(label, "input", {type: "range", min: 1, value: 1});
  const count = make(label, "output");
  const legend = make(root, "p", {class: "wb-legend"});
  for (const [name, text] of kind.legend) {
    make(legend, "span", {class: `wb-${name}`, "aria-hidden": "true"});
    legend.append(` ${text}  `);
  }
  make(root, "p", {class: "wb-keys"}, "Keys: ← and → step, Home and End.");

  function go(to) {
    at = Math.max(0, Math.min(to, program.steps.length - 1));
    const step = program.steps[at];
    svg.replaceChildren(title);
    kind.draw(svg, step);
    said.textContent = kind.tell(step);
    title.textContent = said.textContent;
    launch.textContent = program.launch;
    slider.max = program.steps.length;
    slider.value = at + 1;
    count.textContent = ` ${at + 1} of ${program.steps.length}`;
    back.disabled = at === 0;
    next.disabled = at === program.steps.length - 1;
  }
  back.addEventListener("click", () => go(at - 1));
  next.addEventListener("click", () => go(at + 1));
  slider.addEventListener("input", () => go(slider.value - 1));
  root.addEventListener("keydown", (event) => {
    if (event.target.type === "radio" || event.altKey || event.ctrlKey || event.metaKey) return;
    const to = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: Infinity}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    go(to);
    // A button that has become disabled loses the keys.
    if (document.activeElement.disabled) slider.focus();
  });
  go(0);
}

document.querySelectorAll(".wb-view").forEach((root, number) => {
  show(root, JSON.parse(root.querySelector("script").textContent), number);
});

// Hints that the reader has opened, which are the ones to print.
document.querySelectorAll("details.question > summary").forEach((summary) => {
  summary.addEventListener("click", () => {
    summary.parentNode.classList.toggle("wb-opened", !summary.parentNode.open);
  });
});

// What can be scrolled with a mouse can be scrolled with the keyboard.
function reachable() {
  document.querySelectorAll(".md-typeset__scrollwrap").forEach((one) => {
    if (one.scrollWidth > one.clientWidth) {
      one.tabIndex = 0;
      one.setAttribute("role", "region");
      one.setAttribute("aria-label", "table");
    }
  });
}
window.addEventListener("load", () => setTimeout(reachable));
window.addEventListener("resize", reachable);
