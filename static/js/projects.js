/* Suggests the address of a project from its name until you type an address. */
(() => {
  "use strict";
  const slug = (text) =>
    text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 64).replace(/^-+|-+$/g, "");

  for (const name of document.querySelectorAll("[data-suggests]")) {
    const target = document.getElementById(name.dataset.suggests);
    if (!target) continue;
    let own = target.value !== "" && target.value !== slug(name.value);
    target.addEventListener("input", () => { own = target.value !== ""; });
    name.addEventListener("input", () => { if (!own) target.value = slug(name.value); });
  }
})();
