// The facts as a graph: names in boxes that never overlap, at the size they are read at; its frame scrolls.
"use strict";
const NAME_WIDTH = 150, LINE_HEIGHT = 18, PAD = 7, APART = 26, MARGIN = 24;
function shape(within, name, attributes, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  within.append(made);
  return made;
}
// A name as lines of a box: broken between words and between Chinese letters, and inside a word that is too long.
function linesOf(name, widthOf) {
  const lines = [""];
  for (let rest of name.match(/\s*(?:[\u2e80-\u9fff\uf900-\uffef]|[^\s\u2e80-\u9fff\uf900-\uffef]+)/gu) ?? [name]) {
    while (rest) {
      if (widthOf(lines.at(-1) + rest) <= NAME_WIDTH) {
        lines.push(lines.pop() + rest);
        break;
      }
      if (lines.at(-1)) lines.push("");
      rest = rest.trimStart();
      if (widthOf(rest) <= NAME_WIDTH) continue;
      const letters = [...rest];
      let fits = 1;
      while (widthOf(letters.slice(0, fits + 1).join("")) <= NAME_WIDTH) fits++;
      lines[lines.length - 1] = letters.slice(0, fits).join("");
      rest = letters.slice(fits).join("");
    }
  }
  return lines;
}
// Springs within an area of the frame's width (Fruchterman and Reingold 1991), then boxes pushed off one another.
function place(boxes, joined, frameWidth) {
  const area = 1.3 * boxes.reduce((sum, box) => sum + (box.width + APART) * (box.height + APART), 0);
  const width = Math.min(Math.max(Math.sqrt(area * 1.8), NAME_WIDTH * 2), Math.max(frameWidth, NAME_WIDTH * 2)), height = area / width;
  const near = 1.4 * Math.sqrt(area / boxes.length), rounds = 250;
  boxes.forEach((box, i) => {
    const turn = (2 * Math.PI * i) / boxes.length;
    Object.assign(box, { x: (width / 2) * (1 + 0.8 * Math.cos(turn)), y: (height / 2) * (1 + 0.8 * Math.sin(turn)) });
  });
  for (let round = 0; round < rounds; round++) {
    for (const box of boxes) box.dx = box.dy = 0;
    const pull = (a, b, force) => {
      const dx = b.x - a.x, dy = b.y - a.y, far = Math.max(Math.hypot(dx, dy), 1), by = force(far) / far;
      a.dx += dx * by; a.dy += dy * by; b.dx -= dx * by; b.dy -= dy * by;
    };
    boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => pull(a, b, (far) => -(near * near) / far)));
    for (const [a, b] of joined) pull(a, b, (far) => (far * far) / near);
    const most = (near / 2) * (1 - round / rounds);
    for (const box of boxes) {
      const far = Math.max(Math.hypot(box.dx, box.dy), 1), step = Math.min(far, most) / far;
      box.x = Math.max(box.width / 2, Math.min(width - box.width / 2, box.x + box.dx * step));
      box.y = Math.max(0, Math.min(height, box.y + box.dy * step));
    }
  }
  while (!areApart(boxes)) for (const box of boxes) { box.x *= 1.1; box.y *= 1.1; }
}
// Pushes overlapping boxes apart along the shorter way; false if some still overlap.
function areApart(boxes) {
  for (let round = 0; round < 300; round++) {
    let moved = false;
    boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
      const across = (a.width + b.width) / 2 + APART - Math.abs(a.x - b.x), down = (a.height + b.height) / 2 + APART - Math.abs(a.y - b.y);
      if (across <= 0.01 || down <= 0.01) return;
      const axis = across < down ? "x" : "y", step = (Math.min(across, down) / 2 + 0.01) * (a[axis] <= b[axis] ? 1 : -1);
      a[axis] -= step;
      b[axis] += step;
      moved = true;
    }));
    if (!moved) return true;
  }
  return false;
}
// Where the way from a box's middle to a point leaves the box.
function border(box, { x, y }) {
  const dx = x - box.x, dy = y - box.y;
  const share = Math.min(1, (box.width / 2 + 2) / Math.abs(dx || 1e-9), (box.height / 2 + 2) / Math.abs(dy || 1e-9));
  return { x: box.x + dx * share, y: box.y + dy * share };
}
// The line of a fact, bent where others join the same two names, and the place of its name.
function lineOf(a, b, bend) {
  if (a === b) {
    const top = a.y - a.height / 2, x = a.x + bend;
    return { path: `M ${x - 12} ${top} C ${x - 30} ${top - 30} ${x + 30} ${top - 30} ${x + 12} ${top - 2}`, x, y: top - 22 };
  }
  const far = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const turn = { x: (a.x + b.x) / 2 - ((b.y - a.y) / far) * bend, y: (a.y + b.y) / 2 + ((b.x - a.x) / far) * bend };
  const start = border(a, turn), end = border(b, turn);
  return { path: `M ${start.x} ${start.y} Q ${turn.x} ${turn.y} ${end.x} ${end.y}`, x: (start.x + 2 * turn.x + end.x) / 4, y: (start.y + 2 * turn.y + end.y) / 4 };
}
function drawFacts(frame, facts) {
  const svg = shape(frame, "svg", { class: "graph", role: "group", "aria-label": frame.getAttribute("aria-label") });
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = getComputedStyle(svg).font;
  const widthOf = (text) => pen.measureText(text).width;
  const boxes = new Map();
  for (const name of facts.flatMap((fact) => [fact.source, fact.target])) {
    const lines = linesOf(name, widthOf);
    boxes.set(name, { lines, width: Math.max(...lines.map(widthOf)) + 2 * PAD + 4, height: lines.length * LINE_HEIGHT + 2 * PAD });
  }
  const placed = [...boxes.values()];
  place(placed, facts.map((fact) => [boxes.get(fact.source), boxes.get(fact.target)]), frame.clientWidth - 2 * MARGIN);
  const least = (axis, side) => Math.min(...placed.map((box) => box[axis] - box[side] / 2));
  const left = least("x", "width") - MARGIN, top = least("y", "height") - MARGIN;
  for (const box of placed) { box.x -= left; box.y -= top; }
  const width = Math.max(...placed.map((box) => box.x + box.width / 2)) + MARGIN;
  const height = Math.max(...placed.map((box) => box.y + box.height / 2)) + MARGIN;
  for (const [key, value] of Object.entries({ width, height })) svg.setAttribute(key, Math.ceil(value));
  const tip = shape(shape(svg, "defs", {}), "marker", { id: "fact-tip", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" });
  shape(tip, "path", { d: "M 0 0 L 10 5 L 0 10 z" });
  const lines = drawLines(svg, facts, boxes);
  for (const box of placed) {
    shape(svg, "rect", { class: "thing", x: box.x - box.width / 2, y: box.y - box.height / 2, width: box.width, height: box.height, rx: 8 });
    const text = shape(svg, "text", { class: "name" });
    box.lines.forEach((line, i) => shape(text, "tspan", { x: box.x, y: box.y + (i - (box.lines.length - 1) / 2) * LINE_HEIGHT + 4.5 }, line));
  }
  nameAtPointer(frame, svg, lines, widthOf, width);
  return lines;
}
function drawLines(svg, facts, boxes) {
  const pairOf = (fact) => [fact.source, fact.target].sort().join("\n");
  return facts.map((fact, number) => {
    const same = facts.filter((other) => pairOf(other) === pairOf(fact));
    const bend = (same.indexOf(fact) - (same.length - 1) / 2) * 44 * (fact.source <= fact.target ? 1 : -1);
    const line = lineOf(boxes.get(fact.source), boxes.get(fact.target), bend);
    const { name } = fact;
    const group = shape(svg, "g", { class: "fact", role: "img", tabindex: number ? -1 : 0, "aria-label": `${fact.source} —${name}→ ${fact.target}` });
    shape(group, "path", { class: "wide", d: line.path });
    shape(group, "path", { class: "line", d: line.path, "marker-end": "url(#fact-tip)" });
    return { ...line, group, name };
  });
}
// One name is shown: that of the fact at the pointer, or of the one reached with Tab and the arrow keys. The frame
// listens: a listener of its own would make the drawing a stop of Tab.
function nameAtPointer(frame, svg, lines, widthOf, width) {
  const told = shape(svg, "g", { class: "told" });
  const show = (target) => {
    const shown = target?.closest?.(".fact") ?? document.activeElement;
    const line = lines.find(({ group }) => group === shown);
    told.replaceChildren();
    if (!line) return;
    const half = widthOf(line.name) / 2 + PAD, x = Math.min(Math.max(line.x, half), width - half);
    shape(told, "rect", { x: x - half, y: line.y - 12, width: 2 * half, height: 24, rx: 4 });
    shape(told, "text", { x, y: line.y + 4.5 }, line.name);
  };
  frame.addEventListener("pointerover", (event) => show(event.target));
  frame.addEventListener("pointerleave", () => show());
  frame.addEventListener("focusin", () => show());
  frame.addEventListener("focusout", () => setTimeout(show));
  frame.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = lines.findIndex(({ group }) => group === event.target);
    if (!step || at < 0) return;
    event.preventDefault();
    lines[at].group.setAttribute("tabindex", -1);
    const next = lines[(at + step + lines.length) % lines.length].group;
    next.setAttribute("tabindex", 0);
    next.focus();
  });
}
