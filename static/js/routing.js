/* Enter sends a question; Shift and Enter start a new line. A form that takes long is sent once, and says so.
   After a question is saved, the focus stays where it was. */
(() => {
  "use strict";
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || !(event.target instanceof Element)) return;
    const field = event.target.closest("[data-enter]");
    if (!field) return;
    event.preventDefault();
    field.form.requestSubmit();
  });
  // A button that saves is replaced with the answer. Without this, the focus starts again at the top of the page.
  document.addEventListener("htmx:afterSwap", () => {
    if (document.activeElement === document.body) document.getElementById("save-title")?.focus();
  });
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("[data-once]");
    if (!form || !event.submitter) return;
    event.submitter.disabled = true;
    event.submitter.textContent = form.dataset.once;
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted && document.querySelector("[data-once] [disabled]")) location.reload();
  });
})();
