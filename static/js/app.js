/* Small comforts. Every page works without this file. */
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("has-script");

  const within = (event, selector) => (event.target instanceof Element ? event.target.closest(selector) : null);

  /* The theme is a cookie that the server reads, so the next page arrives in it. */
  const setTheme = (theme) => {
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `theme=${theme}; path=/; max-age=${theme ? 31536000 : 0}; samesite=lax${secure}`;
    if (theme) root.dataset.theme = theme;
    else delete root.dataset.theme;
  };

  document.addEventListener("submit", (event) => {
    const form = within(event, "[data-theme-form]");
    if (!form || !event.submitter) return;
    event.preventDefault();
    setTheme(event.submitter.value);
    for (const button of form.querySelectorAll("button")) {
      button.setAttribute("aria-pressed", String(button === event.submitter));
    }
  });

  const copy = async (button) => {
    const label = button.querySelector("[data-copy-label]") ?? button;
    const before = label.textContent;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      label.textContent = "Copied";
    } catch {
      label.textContent = "Copy by hand";
    }
    setTimeout(() => { label.textContent = before; }, 2000);
  };

  document.addEventListener("click", (event) => {
    const copier = within(event, "[data-copy]");
    if (copier) copy(copier);
    const dismiss = within(event, "[data-dismiss]");
    if (dismiss) dismiss.closest("[data-toast]")?.remove();
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });

  const typing = (target) => target instanceof HTMLElement && (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName));

  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !typing(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const search = document.querySelector("[data-search]");
      if (search) {
        event.preventDefault();
        search.focus();
        search.select();
      }
    }
    const menu = event.key === "Escape" && within(event, "details.menu[open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });

  /* A row of tabs that is wider than the window starts at the current one; the page itself stays where it is. */
  for (const tab of document.querySelectorAll(".tabs > [aria-current]")) {
    const row = tab.parentElement;
    row.scrollLeft = tab.offsetLeft - row.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2;
  }

  /* A request that failed is said at the top of the page, in the words of the error page where there is one,
     and taken back by the next good answer. */
  const trouble = (seen, answer = "") => {
    const box = document.getElementById("trouble");
    if (!box) return;
    const said = answer && new DOMParser().parseFromString(answer, "text/html").querySelector(".bare-text p");
    const line = box.querySelector("[data-trouble]");
    line.textContent = said ? said.textContent.trim() : line.dataset.trouble;
    box.hidden = !seen;
  };
  document.addEventListener("htmx:sendError", () => trouble(true));
  document.addEventListener("htmx:timeout", () => trouble(true));
  document.addEventListener("htmx:responseError", (event) => trouble(true, event.detail.xhr.responseText));
  document.addEventListener("htmx:afterOnLoad", (event) => {
    if (event.detail.successful) trouble(false);
  });

  /* What a page still asks for when it is left is nobody's trouble. */
  const asked = new Set();
  document.addEventListener("htmx:beforeSend", (event) => asked.add(event.detail.xhr));
  document.addEventListener("htmx:afterRequest", (event) => asked.delete(event.detail.xhr));
  const letGo = () => { for (const xhr of asked) xhr.onabort = xhr.onerror = null; };
  window.addEventListener("beforeunload", letGo);
  window.addEventListener("pagehide", letGo);
})();
