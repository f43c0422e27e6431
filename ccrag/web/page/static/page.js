// What the page does beyond links and forms; all of it works without, only less quickly.
"use strict";

document.documentElement.classList.add("scripted");

const one = (selector, within = document) => within.querySelector(selector);

// ---- the document beside the answer

const reader = one("#reader");
let cameFrom = null;

async function openDocument(link) {
  const address = new URL(link.href);
  address.searchParams.set("fragment", "true");
  const response = await fetch(address);
  if (!response.ok) { location.href = link.href; return; }
  const content = one("#reader-content");
  content.innerHTML = await response.text(); // escaped by the server, and no script may run
  document.querySelectorAll(".cite[aria-current]").forEach((cite) => cite.removeAttribute("aria-current"));
  if (link.classList.contains("cite")) link.setAttribute("aria-current", "true");
  if (!content.contains(link)) cameFrom = link;
  reader.hidden = false;
  content.focus({ preventScroll: true });
  const span = one("#span", content);
  if (span) span.scrollIntoView({ block: "center" });
  else reader.scrollTop = 0;
}

function closeDocument() {
  if (!reader || reader.hidden) return;
  reader.hidden = true;
  if (cameFrom && cameFrom.isConnected) cameFrom.focus();
}

if (reader) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="/document?"]');
    if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    openDocument(link).catch(() => { location.href = link.href; });
  });
  one("#close-reader").addEventListener("click", closeDocument);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") closeDocument(); });
}

// ---- choosing documents

const form = one("#ask");
const found = one("#found");

function chooseSome() { one('input[name="scope"][value="some"]').checked = true; }

function showChosen() {
  const chosen = one("#chosen");
  one("#chosen-block").hidden = !chosen.children.length;
}

function fitPipelines() { // an index can be asked only through pipelines it was built for
  const chosen = one("#index").selectedOptions[0];
  const pipelines = one("#pipeline");
  const fitting = chosen ? chosen.dataset.pipelines.split("\n") : [];
  for (const option of pipelines.options) option.disabled = !fitting.includes(option.value);
  const first = [...pipelines.options].find((option) => !option.disabled);
  if (first && (!pipelines.selectedOptions[0] || pipelines.selectedOptions[0].disabled)) first.selected = true;
}

async function findDocuments() {
  const title = one("#title").value.trim();
  if (!title) { found.replaceChildren(); return; }
  const query = new URLSearchParams({ index: one("#index").value, title });
  const response = await fetch(`/documents?${query}`);
  if (one("#title").value.trim() !== title) return; // a later one is on its way
  if (response.ok) found.innerHTML = await response.text();
}

if (found) {
  let waiting = 0;
  one("#title").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(findDocuments, 150); });
  one("#title").addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  one("#index").addEventListener("change", () => { one("#chosen").replaceChildren(); showChosen(); findDocuments(); fitPipelines(); });
  fitPipelines();
  form.addEventListener("change", (event) => {
    if (event.target.name !== "pick") return;
    chooseSome();
    const item = event.target.closest("li");
    const chosen = one("#chosen");
    if (event.target.checked) {
      const there = [...chosen.querySelectorAll("input")].some((box) => box.value === event.target.value);
      if (there) item.remove();
      else chosen.append(item);
    } else if (chosen.contains(item)) {
      item.remove();
    }
    showChosen();
  });
}

// ---- asking

async function* events(response) {
  const chunks = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await chunks.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const event = { name: "message", data: "" };
      for (const line of block.split("\n")) {
        if (line.startsWith("event: ")) event.name = line.slice(7);
        else if (line.startsWith("data: ")) event.data += line.slice(6);
      }
      yield { name: event.name, told: JSON.parse(event.data) };
    }
  }
}

function say(text, alarm = false) {
  const status = one("#status");
  status.textContent = text;
  status.classList.toggle("alarm", alarm);
}

function showStage(told) {
  const item = document.createElement("li");
  item.textContent = `${told.stage} ${(told.seconds * 1000).toFixed(1)} ms`;
  one("#stages").append(item);
}

function showProblem(problem) { say(`${problem.title}: ${problem.detail}`, true); }

let asking = null;

async function ask(body) {
  if (asking) asking.abort();
  const mine = new AbortController();
  asking = mine;
  const stages = one("#stages");
  stages.replaceChildren();
  stages.hidden = false;
  one("#result").replaceChildren();
  say("Searching…");
  try {
    const response = await fetch("/ask/stream", { method: "POST", body, signal: mine.signal });
    if (response.status === 401) { location.href = "/sign-in"; return; }
    if (!response.ok) { await refused(response); return; }
    for await (const { name, told } of events(response)) {
      if (name === "stage") showStage(told);
      else if (name === "problem") { showProblem(told); return; }
      else if (name === "answer") {
        one("#result").innerHTML = told.html; // escaped by the server, and no script may run
        say("");
        stages.hidden = true;
        one("#answer-head").focus({ preventScroll: true });
        one("#answer-head").scrollIntoView({ block: "nearest" });
        return;
      }
    }
    say("The connection ended before the answer came; ask again.", true);
  } catch (error) {
    if (error.name !== "AbortError") say("The server cannot be reached; try again.", true);
  } finally {
    if (asking === mine) asking = null;
  }
}

async function refused(response) {
  const kind = response.headers.get("content-type") || "";
  if (kind.includes("json")) { showProblem(await response.json()); return; }
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const told = page.querySelector(".problem p");
  say(told ? told.textContent : `The server refused (${response.status}).`, true);
}

if (form) {
  form.addEventListener("submit", (event) => {
    if (event.submitter && event.submitter.hasAttribute("formaction")) return;
    event.preventDefault();
    closeDocument();
    ask(new URLSearchParams(new FormData(form)));
  });
  one("#text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); form.requestSubmit(); }
  });
}
