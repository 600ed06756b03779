// What htmx does not do: the run's stages as they come, dropped folders, the graph of facts, moving a board.
"use strict";
const root = document.documentElement.getAttribute("data-root");
const $ = (selector, within = document) => within.querySelector(selector);

// Light and dark.
const kept = localStorage.getItem("theme");
if (kept) document.documentElement.dataset.theme = kept;
document.addEventListener("click", (event) => {
  if (!event.target.closest("#theme")) return;
  const page = document.documentElement;
  const dark = page.dataset.theme
    ? page.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  page.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", page.dataset.theme);
});

// Asking: the answer to a POST is a stream of events.
let running = null;
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
      const lines = text.slice(0, end).split("\n");
      const field = (name) => lines.filter((line) => line.startsWith(name + ": ")).map((line) => line.slice(name.length + 2)).join("\n");
      yield { name: field("event"), data: JSON.parse(field("data") || "{}") };
    }
  }
}
// The answer before moves up into the conversation: its text and sources, without what belongs to the latest one.
function keepTurn(answer) {
  const section = $("section", answer);
  if (!section) return;
  section.classList.add("turn");
  for (const part of section.querySelectorAll("details, form, script, [data-terms]")) part.remove();
  const sources = $(".sources", section);
  if (sources) {
    const folded = document.createElement("details"), summary = document.createElement("summary");
    summary.textContent = sources.previousElementSibling.textContent;
    sources.previousElementSibling.replaceWith(folded);
    folded.append(summary, sources);
  }
  $("#turns").append(section);
}
async function ask(form) {
  running?.abort();
  running = new AbortController();
  const mine = running;
  const stages = $("#stages"), draft = $("#draft"), answer = $("#answer");
  keepTurn(answer);
  stages.replaceChildren();
  draft.textContent = "";
  answer.replaceChildren();
  $("#beside").replaceChildren();
  $("main").classList.remove("beside");
  $("#stop").hidden = false;
  answer.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(form.action, { method: "POST", body: new FormData(form), signal: mine.signal, headers: { "HX-Request": "true" } });
    if (!response.ok) {
      answer.innerHTML = await response.text();
      return;
    }
    for await (const { name, data } of events(response)) {
      if (name === "stage") stages.insertAdjacentHTML("beforeend", data.html);
      if (name === "token") draft.textContent += data.text;
      if (name === "answer" || name === "failed") {
        draft.textContent = "";
        answer.innerHTML = data.html;
        htmx.process(answer);
        $("h2", answer)?.focus({ preventScroll: true });
        answer.scrollIntoView({ block: "start" });
        if (name === "answer") {
          $("#query").value = "";
          const thread = $("#thread").value;
          if (thread) history.replaceState(null, "", `${root}/?thread=${encodeURIComponent(thread)}`);
        }
      }
    }
  } catch (error) {
    if (error.name !== "AbortError") {
      const told = document.createElement("p");
      told.className = "error";
      told.setAttribute("role", "alert");
      told.textContent = document.documentElement.dataset.lost;
      answer.replaceChildren(told);
    }
  } finally {
    if (running === mine) {
      $("#stop").hidden = true;
      answer.removeAttribute("aria-busy");
    }
  }
}
document.addEventListener("submit", (event) => {
  if (event.target.id !== "ask") return;
  event.preventDefault();
  ask(event.target);
});
// A change to how the latest question is asked puts that question back into the box, to be asked again.
function again() {
  $("#query").value ||= $("#answer .asked")?.textContent ?? "";
}
// A reading becomes the filters of the next question, to be corrected there.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-terms]");
  const only = $("#only");
  if (!button || !only) return;
  again();
  only.value = button.dataset.terms;
  only.rows = only.value.split("\n").length;
  only.focus();
});
document.addEventListener("click", (event) => {
  if (event.target.closest("#stop")) running?.abort();
  if (event.target.closest("#close-note")) {
    $("#beside").replaceChildren();
    $("main").classList.remove("beside");
    lastMark?.focus();
  }
});
document.addEventListener("keydown", (event) => {
  const asks = event.key === "Enter" && !event.isComposing && event.target.matches("#ask textarea");
  if (asks && (event.ctrlKey || event.metaKey || (event.target.id === "query" && !event.shiftKey))) {
    event.preventDefault();
    $("#ask").requestSubmit();
  }
  if (event.key === "Escape") $("#close-note")?.click();
});
// By its attribute: the form's field called dataset hides the form's own property.
if ($("#ask")?.getAttribute("data-go") === "yes") $("#ask").requestSubmit();

// A citation opens its note beside the answer, at the passage.
let lastMark = null;
document.addEventListener("click", (event) => {
  const mark = event.target.closest("a[hx-target='#beside']");
  if (mark) lastMark = mark;
});
new MutationObserver(() => {
  const beside = $("#beside");
  if (!beside?.firstElementChild) return;
  $("main").classList.add("beside");
  const passage = $("#passage", beside);
  (passage || $("h2", beside))?.focus({ preventScroll: true });
  if (passage) passage.scrollIntoView({ block: "center" });
  else if (matchMedia("(max-width: 60rem)").matches) beside.scrollIntoView({ block: "start" });
}).observe(document.body, { childList: true, subtree: true });
if (location.pathname.startsWith(`${root}/read/`)) $("#passage")?.scrollIntoView({ block: "center" });

// Dropped and chosen folders are uploaded with their files' paths.
const READ = /\.(md|markdown|txt|canvas|pdf|docx|pptx|html?|epub)$/i;
async function within(entry, path) {
  if (entry.isFile) {
    const file = await new Promise((done, failed) => entry.file(done, failed));
    return [[path + entry.name, file]];
  }
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) break;
    for (const one of some) if (!one.name.startsWith(".")) found.push(...(await within(one, `${path}${entry.name}/`)));
  }
  return found;
}
async function upload(named) {
  const files = named.filter(([name]) => READ.test(name));
  const jobs = $("#jobs");
  if (!files.length) return;
  const form = new FormData();
  form.append("dataset", $("#into").value || "default");
  for (const [name, file] of files) form.append("files", file, name);
  const response = await fetch(`${root}/page/upload`, { method: "POST", body: form, headers: { "HX-Request": "true" } });
  jobs.insertAdjacentHTML("afterbegin", await response.text());
  htmx.process(jobs);
}
const drop = $("#drop");
if (drop) {
  for (const name of ["dragover", "dragleave", "drop"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
    });
  }
  drop.addEventListener("drop", async (event) => {
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    upload((await Promise.all(entries.map((entry) => within(entry, "")))).flat());
  });
  $("#choose").addEventListener("change", (event) => {
    upload([...event.target.files].map((file) => [file.webkitRelativePath || file.name, file]));
    event.target.value = "";
  });
}

// The facts are drawn when asked for; the slider shows what held on a day.
document.addEventListener("click", (event) => {
  const button = event.target.closest("#draw-facts");
  const box = $("#facts");
  if (!button) return;
  box.hidden = !box.hidden;
  button.setAttribute("aria-expanded", String(!box.hidden));
  if (box.firstElementChild) return;
  const facts = JSON.parse($("#facts-data").textContent);
  const lines = drawFacts(box, facts);
  const slider = $("#fact-day");
  const shown = () => {
    if (!slider) return;
    const day = new Date(Number(slider.value) * 864e5).toISOString().slice(0, 10);
    $("#fact-day-told").textContent = day;
    slider.setAttribute("aria-valuetext", day);
    facts.forEach((fact, number) => {
      const begun = !fact.valid_at || fact.valid_at.slice(0, 10) <= day;
      const over = fact.invalid_at && fact.invalid_at.slice(0, 10) <= day;
      lines[number].group.classList.toggle("past", !begun || Boolean(over));
    });
  };
  slider?.addEventListener("input", shown);
  slider?.addEventListener("change", () => {
    again();
    const asOf = $("#as_of");
    asOf.value = new Date(Number(slider.value) * 864e5).toISOString().slice(0, 10);
    asOf.dispatchEvent(new Event("change", { bubbles: true }));
  });
  shown();
});

// A board scrolls in its frame, by dragging too, and is made larger or smaller by + and −; its texts stay readable.
function zoom(svg, factor) {
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const scale = Math.min(Math.max((svg.width.baseVal.value / width) * factor, 0.75), 3);
  svg.setAttribute("width", width * scale);
  svg.setAttribute("height", height * scale);
}
document.addEventListener("wheel", (event) => {
  const svg = event.ctrlKey && event.target.closest?.(".board");
  if (!svg) return;
  event.preventDefault();
  zoom(svg, event.deltaY > 0 ? 1 / 1.1 : 1.1);
}, { passive: false });
document.addEventListener("pointerdown", (event) => {
  const frame = event.target.closest?.(".board-frame");
  if (!frame || event.pointerType !== "mouse" || event.target.closest("a")) return;
  const from = { x: event.clientX + frame.scrollLeft, y: event.clientY + frame.scrollTop };
  const move = (at) => frame.scrollTo(from.x - at.clientX, from.y - at.clientY);
  addEventListener("pointermove", move);
  addEventListener("pointerup", () => removeEventListener("pointermove", move), { once: true });
});
document.addEventListener("keydown", (event) => {
  const svg = event.target.matches?.(".board-frame") && $(".board", event.target);
  const factor = { "+": 1.25, "-": 0.8 }[event.key];
  if (!svg || !factor) return;
  zoom(svg, factor);
  event.preventDefault();
});
