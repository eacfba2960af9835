/* The buttons above a Markdown field: each changes the selection and leaves one step to undo. */
(() => {
  "use strict";

  const wrap = (before, after, sample) => (text) => {
    const inner = text || sample;
    return { text: before + inner + after, select: [before.length, before.length + inner.length] };
  };

  const eachLine = (prefix, sample) => (text) => {
    const lines = (text || sample).split("\n").map((line, index) => prefix(index) + line);
    const joined = lines.join("\n");
    return { text: joined, select: [0, joined.length] };
  };

  const table = "| What | How much |\n|---|---|\n| First | 1 |\n";

  const tools = {
    heading: eachLine(() => "## ", "Heading"),
    bold: wrap("**", "**", "important"),
    italic: wrap("*", "*", "stressed"),
    exact: wrap("`", "`", "exact text"),
    link: wrap("[", "](references/file.md)", "words to follow"),
    bullets: eachLine(() => "- ", "One thing"),
    numbers: eachLine((index) => `${index + 1}. `, "First step"),
    table: (text) => ({ text: text + table, select: [text.length, text.length + table.length] }),
  };

  const apply = (field, tool) => {
    let [start, end] = [field.selectionStart, field.selectionEnd];
    if (tool === tools.heading || tool === tools.bullets || tool === tools.numbers) {
      start = field.value.lastIndexOf("\n", start - 1) + 1;
      const next = field.value.indexOf("\n", end);
      end = next === -1 ? field.value.length : next;
    }
    const change = tool(field.value.slice(start, end));
    field.focus();
    field.setSelectionRange(start, end);
    /* Deprecated, but the only way that keeps the browser's own undo. */
    if (!document.execCommand("insertText", false, change.text)) {
      field.setRangeText(change.text, start, end, "end");
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    field.setSelectionRange(start + change.select[0], start + change.select[1]);
  };

  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element && event.target.closest("[data-write]");
    if (!button) return;
    const bar = button.closest("[aria-controls]");
    const field = bar && document.getElementById(bar.getAttribute("aria-controls"));
    const tool = tools[button.dataset.write];
    if (field && tool) apply(field, tool);
  });
})();
