/* The buttons above a Markdown field: each changes the selection, a second time takes it back, and leaves one step to undo. */
(() => {
  "use strict";

  const wrap = (before, after, sample) => (text) => {
    const inner = text || sample;
    return { text: before + inner + after, select: [before.length, before.length + inner.length] };
  };

  /* A mark on both sides of the words. One star within two is another mark, so the stars are counted. */
  const marked = (mark, sample) => {
    const put = wrap(mark, mark, sample);
    const run = (letters) => {
      const other = letters.findIndex((letter) => letter !== mark[0]);
      return other === -1 ? letters.length : other;
    };
    return (text, before, after) => {
      const both = Math.min(run([...before.slice(-3)].reverse()), run([...after.slice(0, 3)]));
      const on = mark === "*" ? both % 2 === 1 : both >= mark.length;
      return text && on ? { text, select: [0, text.length], outside: mark.length } : put(text);
    };
  };

  const eachLine = (prefix, mark, sample, instead = mark) => (text) => {
    const lines = (text || sample).split("\n");
    const on = lines.every((line) => mark.test(line));
    const joined = lines.map((line, index) => (on ? "" : prefix(index)) + line.replace(instead, "")).join("\n");
    return { text: joined, select: [0, joined.length] };
  };

  const anyItem = /^(?:[-*+]|\d+[.)]) /;

  /* A table begins on a line of its own, behind a blank one. */
  const table = "| What | How much |\n|---|---|\n| First | 1 |\n";
  const addTable = (text, before) => {
    const above = before + text;
    const lead = text + (!above || above.endsWith("\n\n") ? "" : above.endsWith("\n") ? "\n" : "\n\n");
    return { text: lead + table, select: [lead.length, lead.length + table.length] };
  };

  const tools = {
    heading: eachLine(() => "## ", /^#{1,6} /, "Heading"),
    bold: marked("**", "important"),
    italic: marked("*", "stressed"),
    exact: marked("`", "exact text"),
    link: wrap("[", "](references/file.md)", "words to follow"),
    bullets: eachLine(() => "- ", /^[-*+] /, "One thing", anyItem),
    numbers: eachLine((index) => `${index + 1}. `, /^\d+[.)] /, "First step", anyItem),
    table: addTable,
  };

  const apply = (field, tool) => {
    let [start, end] = [field.selectionStart, field.selectionEnd];
    if (tool === tools.heading || tool === tools.bullets || tool === tools.numbers) {
      start = field.value.lastIndexOf("\n", start - 1) + 1;
      const next = field.value.indexOf("\n", end);
      end = next === -1 ? field.value.length : next;
    }
    const change = tool(field.value.slice(start, end), field.value.slice(0, start), field.value.slice(end));
    start -= change.outside ?? 0;
    end += change.outside ?? 0;
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
