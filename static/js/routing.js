/* Enter sends a question; Shift and Enter start a new line. */
(() => {
  "use strict";
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || !(event.target instanceof Element)) return;
    const field = event.target.closest("[data-enter]");
    if (!field) return;
    event.preventDefault();
    field.form.requestSubmit();
  });
})();
