/* Enhancements of every page. Each page works without them. */
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("has-script");

  const within = (event, selector) => (event.target instanceof Element ? event.target.closest(selector) : null);

  /* The theme is stored in a cookie that the server reads. */
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

  const openSearch = () => {
    const search = document.querySelector("[data-search]");
    search?.focus();
    search?.select();
    return search !== null;
  };

  /* Ctrl+K opens the search of the page, or else the list of skills. Text areas keep it for links. */
  const searchKey = (event) => {
    if (event.altKey || event.shiftKey) return false;
    if (event.ctrlKey || event.metaKey) return event.key.toLowerCase() === "k" && event.target.tagName !== "TEXTAREA";
    return event.key === "/" && !typing(event.target);
  };
  if (location.hash === "#q") openSearch();

  document.addEventListener("keydown", (event) => {
    if (searchKey(event)) {
      const list = document.querySelector("[data-search-page]");
      if (openSearch()) event.preventDefault();
      else if (list && event.key !== "/" && !typing(event.target)) {
        event.preventDefault();
        location.assign(`${list.dataset.searchPage}#q`);
      }
    }
    const menu = event.key === "Escape" && within(event, "details.menu[open]");
    if (menu) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });

  /* Scroll a wide row of tabs to the current tab, without scrolling the page. */
  for (const tab of document.querySelectorAll(".tabs > [aria-current]")) {
    const row = tab.parentElement;
    row.scrollLeft = tab.offsetLeft - row.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2;
  }

  /* Show a failed request at the top of the page, with the text of the error page if there is one. Hide it after the
     next successful request. */
  const showTrouble = (visible, response = "") => {
    const box = document.getElementById("trouble");
    if (!box) return;
    const message = response && new DOMParser().parseFromString(response, "text/html").querySelector(".bare-text p");
    const line = box.querySelector("[data-trouble]");
    line.textContent = message ? message.textContent.trim() : line.dataset.trouble;
    box.hidden = !visible;
  };
  document.addEventListener("htmx:sendError", () => showTrouble(true));
  document.addEventListener("htmx:timeout", () => showTrouble(true));
  document.addEventListener("htmx:responseError", (event) => showTrouble(true, event.detail.xhr.responseText));
  document.addEventListener("htmx:afterOnLoad", (event) => {
    if (event.detail.successful) showTrouble(false);
  });

  /* Requests that are aborted because the page is left are not errors. */
  const pending = new Set();
  document.addEventListener("htmx:beforeSend", (event) => pending.add(event.detail.xhr));
  document.addEventListener("htmx:afterRequest", (event) => pending.delete(event.detail.xhr));
  const ignoreAborts = () => { for (const xhr of pending) xhr.onabort = xhr.onerror = null; };
  window.addEventListener("beforeunload", ignoreAborts);
  window.addEventListener("pagehide", ignoreAborts);
})();
