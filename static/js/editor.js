/* The editor: saves the draft while you type, jumps to findings, accepts dropped files. */
(() => {
  "use strict";
  const form = document.getElementById("editor");
  const within = (event, selector) => (event.target instanceof Element ? event.target.closest(selector) : null);
  const text = () => document.getElementById("f-text");

  /* A file page does not save by itself, so the browser asks before you leave it with changes. */
  const guarded = document.querySelector("form[data-guard]");
  if (guarded) {
    let changed = false;
    guarded.addEventListener("input", () => { changed = true; });
    guarded.addEventListener("submit", () => { changed = false; });
    window.addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });
    document.addEventListener("keydown", (event) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
        event.preventDefault();
        guarded.requestSubmit(guarded.querySelector("[name=do][value=save]"));
      }
    });
  }
  if (!form) return;

  /* -- Saving -------------------------------------------------------------------------------------------- */

  let changed = false;
  let leaving = false;
  form.addEventListener("input", (event) => {
    if (event.target.type !== "file") changed = true;
    leaving = false; /* typing means that the page was not left after all */
  });
  const saveNow = () => window.htmx?.trigger(form, "savenow");

  /* Each request names the state of the draft that it is based on. A submit during a save waits for its response: it
     would name the old state otherwise, and look like an edit in another window. After the submit nothing is saved. */
  const underway = new Set();
  let waitingSubmitter = null;
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!form.contains(event.detail.elt)) return;
    if (waitingSubmitter || leaving) {
      event.preventDefault();
      return;
    }
    underway.add(event.detail.xhr);
    if (event.detail.elt === form) changed = false;
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    /* Compare requests, not elements: htmx may have replaced the element by now. */
    if (!underway.delete(event.detail.xhr) || underway.size) return;
    const submitter = waitingSubmitter;
    waitingSubmitter = null;
    if (submitter) form.requestSubmit(submitter);
  });
  document.addEventListener("htmx:sendError", () => { changed = true; });
  form.addEventListener("submit", (event) => {
    if (event.submitter?.id === "save-button") {
      event.preventDefault();
      saveNow();
    } else if (underway.size && event.submitter) {
      event.preventDefault();
      waitingSubmitter = event.submitter;
    } else {
      changed = false;
      leaving = true;
    }
  });

  /* Save the draft when the tab is closed. */
  window.addEventListener("pagehide", () => {
    if (!changed) return;
    const data = new FormData(form);
    data.delete("files");
    data.set("do", "save");
    navigator.sendBeacon(form.action, data);
  });
  window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

  /* -- Findings ------------------------------------------------------------------------------------------ */

  const toLine = (field, line) => {
    const lines = field.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    field.focus();
    field.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
    /* A textarea does not expose the position of a line, so estimate it from the height. */
    const top = field.getBoundingClientRect().top + window.scrollY;
    const share = field.scrollHeight * ((line - 1) / Math.max(1, lines.length));
    field.scrollTop = Math.max(0, share - field.clientHeight / 3);
    window.scrollTo({ top: Math.max(0, top + share - field.scrollTop - window.innerHeight / 3) });
  };

  document.addEventListener("click", (event) => {
    const link = within(event, "a.finding-at");
    const target = link && document.getElementById(link.hash.slice(1));
    if (!target) return;
    event.preventDefault();
    if (link.dataset.line && target === text()) toLine(target, Number(link.dataset.line));
    else {
      const field = target.matches("fieldset") ? target.querySelector("input") : target.chipsEntry ?? target;
      field.closest("details")?.setAttribute("open", "");
      field.focus();
    }
  });

  /* -- Shortcuts ------------------------------------------------------------------------------------------- */

  const writes = { b: "bold", i: "italic", k: "link" };
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    const key = event.key.toLowerCase();
    if (key === "s") {
      event.preventDefault();
      saveNow();
    } else if (key === "enter") {
      event.preventDefault();
      const dialog = document.getElementById("publish");
      if (!dialog.matches(":popover-open")) dialog.showPopover();
      dialog.querySelector("input:not([type=hidden]), textarea").focus();
    } else if (writes[key] && event.target === text()) {
      const button = form.querySelector(`[data-write="${writes[key]}"]`);
      if (button) {
        event.preventDefault();
        button.click();
      }
    }
  });

  /* -- The description ----------------------------------------------------------------------------------- */

  const figures = new Intl.NumberFormat("en");
  for (const counter of form.querySelectorAll("[data-count-of]")) {
    const field = document.getElementById(counter.dataset.countOf);
    const count = () => {
      const length = [...field.value.trim().replace(/\s+/g, " ")].length;
      const cut = length > Number(counter.dataset.cut) && length <= Number(counter.dataset.most);
      counter.textContent = `${figures.format(length)} of ${figures.format(Number(counter.dataset.most))} characters`
        + (cut ? `, agents see the first ${counter.dataset.cut}` : "");
      field.setAttribute("aria-invalid", String(length > Number(counter.dataset.most)));
    };
    field.addEventListener("input", count);
    count();
  }

  /* -- Files --------------------------------------------------------------------------------------------- */

  const refuse = (words) => {
    const place = form.querySelector("[data-drop-error]");
    place.textContent = words;
    place.hidden = !words;
  };
  const mib = (bytes) => `${figures.format(Math.round((bytes / 1048576) * 10) / 10)} MiB`;

  /* Check before sending; the server checks again. */
  form.addEventListener("htmx:confirm", (event) => {
    const field = event.detail.elt;
    if (field.id !== "f-files") return;
    const files = [...field.files];
    const large = files.find((file) => file.size > Number(field.dataset.most));
    const sum = files.reduce((total, file) => total + file.size, 0);
    refuse("");
    if (!files.length) event.preventDefault();
    else if (large) {
      event.preventDefault();
      refuse(`${large.name} has ${mib(large.size)}. ${mib(Number(field.dataset.most))} are allowed. Nothing was sent.`);
    } else if (sum > Number(field.dataset.mostSum)) {
      event.preventDefault();
      refuse(`These files have ${mib(sum)} together. ${mib(Number(field.dataset.mostSum))} are allowed at once. Nothing was sent.`);
    }
  });

  const hold = (event, held) => {
    const zone = within(event, "[data-drop]");
    if (!zone || !event.dataTransfer?.types.includes("Files")) return null;
    event.preventDefault();
    zone.classList.toggle("is-over", held);
    return zone;
  };
  document.addEventListener("dragover", (event) => hold(event, true));
  document.addEventListener("dragleave", (event) => hold(event, false));
  document.addEventListener("drop", (event) => {
    const zone = hold(event, false);
    if (!zone) return;
    const field = document.getElementById(zone.dataset.drop);
    field.files = event.dataTransfer.files;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  });

  /* Without a focus the cursor is at the start of the text, so insert the link at the end. */
  let focused = false;
  text().addEventListener("focus", () => { focused = true; });
  document.addEventListener("click", (event) => {
    const mention = within(event, "[data-mention]");
    const field = mention && text();
    if (!field) return;
    const path = mention.dataset.mention;
    if (!focused) field.setSelectionRange(field.value.length, field.value.length);
    const words = field.value.slice(field.selectionStart, field.selectionEnd) || path.split("/").pop();
    field.focus();
    const link = `[${words}](${/[\s()]/.test(path) ? `<${path}>` : path})`;
    if (!document.execCommand("insertText", false, link)) {
      field.setRangeText(link);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  });

  /* Enter in these fields presses the button beside them; elsewhere it saves the draft. */
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
    const button = { "f-new": "create", "f-note": "publish" }[event.target.id];
    if (button) {
      event.preventDefault();
      document.querySelector(`[name=do][value=${button}]`).click();
    }
  });
})();
