/* Follow a run: ask for changes of its page, less often the longer nothing changes, until the run is finished. */
(() => {
  "use strict";
  const FIRST = 1000, SLOWEST = 10000, GROWTH = 1.5;
  const part = () => document.querySelector("[data-live]");
  let pause = FIRST;
  let timer = 0;

  const ask = () => {
    const live = part();
    if (live && !document.hidden) window.htmx.trigger(live, "poll");
    else if (live) wait();
  };
  const wait = () => {
    clearTimeout(timer);
    if (part()) timer = setTimeout(ask, pause);
  };

  /* The state of the part that a reader has set: open folds, scrolled graphs and the focus. */
  const graphs = (live) => [...live.querySelectorAll(".graph-scroll")];
  const focused = (live) => {
    const element = document.activeElement;
    if (!live.contains(element)) return "";
    if (element.matches("summary") && element.parentElement.id) return `#${CSS.escape(element.parentElement.id)} > summary`;
    if (element.id) return `#${CSS.escape(element.id)}`;
    const address = element.getAttribute("href");
    return address ? `#live a[href="${CSS.escape(address)}"]` : "";
  };
  let kept = null;
  document.addEventListener("htmx:beforeSwap", (event) => {
    const live = part();
    if (!live || event.detail.target !== live || !event.detail.shouldSwap) return;
    kept = {
      open: [...live.querySelectorAll("details[open][id]")].map((fold) => fold.id),
      scrolled: graphs(live).map((box) => [box.scrollLeft, box.scrollTop]),
      focus: focused(live),
    };
  });
  document.addEventListener("htmx:afterSwap", () => {
    const live = document.getElementById("live");
    if (!kept || !live) return;
    for (const id of kept.open) document.getElementById(id)?.setAttribute("open", "");
    graphs(live).forEach((box, place) => { [box.scrollLeft, box.scrollTop] = kept.scrolled[place] ?? [0, 0]; });
    if (kept.focus) document.querySelector(kept.focus)?.focus({ preventScroll: true });
    kept = null;
  });

  /* The questions are replaced when one of them changes. Texts that somebody is typing into the others stay. */
  const key = (field) => `${field.form?.getAttribute("action")} ${field.name} ${field.type === "radio" ? field.value : ""}`;
  const fields = (box) => [...box.querySelectorAll("textarea, input:not([type=hidden]), select")];
  const isTyped = (field) => (/^(radio|checkbox)$/.test(field.type) ? field.checked !== field.defaultChecked : field.value !== field.defaultValue);
  let typed = null;
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    const box = event.detail.target;
    if (box.id !== "run-questions") return;
    typed = { focus: "", values: new Map() };
    for (const field of fields(box)) {
      if (isTyped(field)) typed.values.set(key(field), field.type === "radio" ? field.checked : field.value);
      if (field === document.activeElement) typed.focus = key(field);
    }
  });
  document.addEventListener("htmx:oobAfterSwap", (event) => {
    const box = event.detail.target;
    if (box.id !== "run-questions" || !typed) return;
    for (const field of fields(box)) {
      const value = typed.values.get(key(field));
      if (value !== undefined && field.type === "radio") field.checked = value;
      else if (value !== undefined) field.value = value;
      if (key(field) === typed.focus) field.focus({ preventScroll: true });
    }
    typed = null;
  });

  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.requestConfig?.elt.id !== "live") return;
    const status = event.detail.xhr.status;
    if (status === 403 || status === 404) return;
    const size = event.detail.xhr.responseText.length;
    pause = status === 200 ? Math.max(FIRST, Math.min(SLOWEST, size / 100)) : Math.min(SLOWEST, pause * GROWTH);
    wait();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    pause = FIRST;
    wait();
  });
  wait();
})();
