/* Enter sends a question; Shift and Enter start a new line. A form that takes long is sent once, and says so. */
(() => {
  "use strict";
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || !(event.target instanceof Element)) return;
    const field = event.target.closest("[data-enter]");
    if (!field) return;
    event.preventDefault();
    field.form.requestSubmit();
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
