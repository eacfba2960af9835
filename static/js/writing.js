/* Formatting buttons above a Markdown field. A second click reverts the change; each is one undo step. */
(() => {
  "use strict";

  const wrap = (before, after, sample) => (text) => {
    const inner = text || sample;
    return { text: before + inner + after, select: [before.length, before.length + inner.length] };
  };

  /* A mark on both sides of the selection. Count the stars: one is italic, two are bold. */
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

  /* A table needs a blank line before it. */
  const table = "| What | How much |\n|---|---|\n| First | 1 |\n";
  const addTable = (text, before) => {
    const above = before + text;
    const lead = text + (!above || above.endsWith("\n\n") ? "" : above.endsWith("\n") ? "\n" : "\n\n");
    return { text: lead + table, select: [lead.length, lead.length + table.length] };
  };

  const tools = {
    heading: eachLine(() => "## ", /^#{1,6} /, "Heading"),
    bold: marked("**", "bold text"),
    italic: marked("*", "italic text"),
    exact: marked("`", "code"),
    link: wrap("[", "](references/file.md)", "link text"),
    bullets: eachLine(() => "- ", /^[-*+] /, "Item", anyItem),
    numbers: eachLine((index) => `${index + 1}. `, /^\d+[.)] /, "First step", anyItem),
    table: addTable,
  };

  /* execCommand is deprecated, but nothing else keeps the undo history of the browser. */
  const put = (field, start, end, text) => {
    field.setSelectionRange(start, end);
    if (document.execCommand(text ? "insertText" : "delete", false, text)) return;
    field.setRangeText(text, start, end, "end");
    field.dispatchEvent(new Event("input", { bubbles: true }));
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
    put(field, start, end, change.text);
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

  /* Enter continues a list with the next item. Enter in an empty item ends the list. */
  const item = /^([ \t]*)(?:([-*+])|(\d{1,9})([.)]))( +)/;
  const fence = /^ {0,3}(?:```|~~~)/gm;
  const continueList = (field) => {
    const at = field.selectionStart;
    const before = field.value.slice(0, at);
    const start = before.lastIndexOf("\n") + 1;
    const mark = item.exec(before.slice(start));
    if (!mark || at !== field.selectionEnd || (before.match(fence)?.length ?? 0) % 2) return false;
    const [all, indent, sign, number, dot, space] = mark;
    const bare = all.length === at - start && !/^[^\n]/.test(field.value.slice(at));
    if (bare) put(field, start, at, "");
    else put(field, at, at, `\n${indent}${sign ?? `${Number(number) + 1}${dot}`}${space}`);
    return true;
  };

  document.addEventListener("keydown", (event) => {
    const field = event.target;
    /* Browsers report key code 229 for keys of an input method. */
    const plain = event.key === "Enter" && !event.isComposing && event.keyCode !== 229 && !event.defaultPrevented;
    if (!plain || event.shiftKey || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!(field instanceof HTMLTextAreaElement) || !document.querySelector(`[aria-controls="${field.id}"] [data-write]`)) return;
    if (continueList(field)) event.preventDefault();
  });
})();
