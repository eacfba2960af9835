/* Keyboard shortcuts of reviews, and filters that apply at once. No shortcut decides; it only opens the dialog. */
(() => {
  "use strict";
  const typing = (target) => target instanceof Element && Boolean(target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]"));
  const follow = (selector) => document.querySelector(selector)?.click();

  const rows = () => [...document.querySelectorAll("[data-rows] > [data-row]")];
  const move = (step) => {
    const all = rows();
    if (!all.length) return;
    const here = all.findIndex((row) => row.contains(document.activeElement));
    const next = here < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, here + step));
    const link = all[next].querySelector(".row-title a");
    link.focus();
    all[next].scrollIntoView({ block: "nearest" });
  };
  const tick = () => rows().find((row) => row.contains(document.activeElement))?.querySelector("input[type=checkbox]")?.click();

  /* Open a dialog and focus its first field. */
  const open = (id) => {
    const dialog = document.getElementById(id);
    if (!dialog || dialog.matches(":popover-open")) return;
    dialog.showPopover();
    dialog.querySelector("textarea")?.focus();
  };

  const keys = {
    j: () => move(1),
    k: () => move(-1),
    x: tick,
    n: () => follow("a[rel=next]"),
    p: () => follow("a[rel=prev]"),
    q: () => follow("[data-queue]"),
    a: () => open("approve"),
    r: () => open("reject"),
  };

  document.addEventListener("keydown", (event) => {
    const busy = event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.repeat;
    if (busy || typing(event.target) || document.querySelector("dialog:popover-open") || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });

  document.addEventListener("change", (event) => {
    const form = event.target instanceof HTMLSelectElement && event.target.closest("[data-filters]");
    if (form) form.requestSubmit();
  });
})();
