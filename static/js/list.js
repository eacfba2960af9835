/* Selecting rows of a list: select all, count, and show the action bar while something is selected. */
(() => {
  "use strict";
  const ticks = (form) => [...form.querySelectorAll("input[type=checkbox]:not([data-choose-all])")];

  const show = (form) => {
    const boxes = ticks(form);
    const ticked = boxes.filter((box) => box.checked).length;
    const all = form.querySelector("[data-choose-all]");
    if (all) {
      all.checked = ticked > 0 && ticked === boxes.length;
      all.indeterminate = ticked > 0 && ticked < boxes.length;
    }
    const bar = form.querySelector("[data-chosen]");
    if (bar) bar.hidden = ticked === 0;
    const count = form.querySelector("[data-chosen-count]");
    if (count) count.textContent = `${ticked} selected`;
  };

  const showAll = () => document.querySelectorAll("[data-choose]").forEach(show);

  document.addEventListener("change", (event) => {
    const form = event.target instanceof Element ? event.target.closest("[data-choose]") : null;
    if (!form) return;
    if (event.target.matches("[data-choose-all]")) for (const box of ticks(form)) box.checked = event.target.checked;
    show(form);
  });
  document.addEventListener("htmx:afterSwap", showAll);
  window.addEventListener("pageshow", showAll);
  showAll();
})();
