/* The workflow editor: jumps to lines, saves with Ctrl+S and when the tab is closed. */
(() => {
  "use strict";
  const form = document.getElementById("workflow-editor");
  const text = () => document.getElementById("f-text");
  if (!form || !text()) return;

  let changed = false;
  form.addEventListener("input", () => { changed = true; });
  document.addEventListener("htmx:beforeRequest", (event) => { if (event.detail.elt === form) changed = false; });
  document.addEventListener("htmx:sendError", () => { changed = true; });
  window.addEventListener("pagehide", () => {
    if (!changed) return;
    const data = new FormData(form);
    data.set("do", "save");
    navigator.sendBeacon(form.action, data);
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "s") return;
    event.preventDefault();
    window.htmx?.trigger(form, "savenow");
  });

  /* A textarea does not expose the position of a line, so estimate it from the height. */
  const showLine = (line) => {
    const field = text();
    const share = (field.scrollHeight * (line - 1)) / Math.max(1, field.value.split("\n").length);
    field.scrollTop = Math.max(0, share - field.clientHeight / 3);
  };
  const toLine = (line) => {
    const field = text();
    const lines = field.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    field.focus({ preventScroll: true });
    field.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    showLine(line);
    field.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest("a.finding-at[data-line]");
    if (!link) return;
    event.preventDefault();
    toLine(Number(link.dataset.line));
  });

  /* A card that opens by a button is shown from its start, and its lines in the text. A new text stays where it was. */
  let opening = false;
  let scrolled = null;
  form.addEventListener("submit", (event) => { opening = /^(open:.|add|copy)/.test(event.submitter?.value ?? ""); });
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    if (event.detail.target?.id === "f-text") scrolled = event.detail.target.scrollTop;
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (scrolled !== null) text().scrollTop = scrolled;
    scrolled = null;
    const card = opening && document.getElementById("card");
    opening = false;
    if (!card) return;
    const line = card.querySelector("[data-line]");
    if (line) showLine(Number(line.dataset.line));
    card.scrollIntoView({ block: "start" });
    card.querySelector("input:not([type=hidden])")?.focus({ preventScroll: true });
  });
})();
