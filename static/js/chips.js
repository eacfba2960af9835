/* Shows a comma-separated field as chips. */
(() => {
  "use strict";

  const items = (value) => [...new Set(value.split(/[,\n]/).map((item) => item.trim().replace(/\s+/g, " ")).filter(Boolean))];

  /* With very many skills the page contains the first names only; fetch matching names while you type. */
  const complete = (entry) => {
    let waiting;
    const ask = async () => {
      const typed = entry.value.trim();
      const answer = await fetch(`${entry.list.dataset.more}?${new URLSearchParams({ q: typed })}`).catch(() => null);
      /* A redirect leads to the sign-in page, which has no names. */
      if (answer?.ok && !answer.redirected && entry.value.trim() === typed) entry.list.innerHTML = await answer.text();
    };
    entry.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(ask, 150);
    });
  };

  const chips = (field) => {
    const box = document.createElement("div");
    const entry = document.createElement("input");
    box.className = "chips";
    entry.placeholder = field.dataset.chips;
    entry.autocomplete = "off";
    if (field.hasAttribute("list")) entry.setAttribute("list", field.getAttribute("list"));
    entry.id = `${field.id}-entry`;
    const label = document.querySelector(`label[for="${field.id}"]`);
    label.htmlFor = entry.id;
    label.querySelector("small")?.remove();
    if (field.hasAttribute("aria-describedby")) entry.setAttribute("aria-describedby", field.getAttribute("aria-describedby"));
    field.type = "hidden";
    field.chipsEntry = entry;
    field.after(box);

    const set = (list) => {
      field.value = list.join(", ");
      field.dispatchEvent(new Event("input", { bubbles: true }));
      draw();
    };
    const draw = () => {
      box.replaceChildren(...items(field.value).map((item) => {
        const chip = document.createElement("span");
        const button = document.createElement("button");
        chip.className = "chip";
        chip.textContent = item;
        button.type = "button";
        button.setAttribute("aria-label", `Remove ${field.dataset.one} ${item}`);
        button.innerHTML = '<svg class="icon" aria-hidden="true"><use href="#i-x"/></svg>';
        button.addEventListener("click", () => {
          set(items(field.value).filter((each) => each !== item));
          entry.focus();
        });
        chip.append(button);
        return chip;
      }), entry);
    };
    const take = () => {
      if (!entry.value.trim()) return;
      const list = items(`${field.value},${entry.value}`);
      entry.value = "";
      set(list);
    };
    entry.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
        event.preventDefault();
        take();
      } else if (event.key === "Backspace" && !entry.value) {
        set(items(field.value).slice(0, -1));
        entry.focus();
      }
    });
    entry.addEventListener("input", (event) => {
      /* A suggestion may be the start of a longer word, so typing it does not finish the chip; choosing it does. */
      const typed = ["insertText", "insertCompositionText", "deleteContentBackward", "deleteContentForward"].includes(event.inputType);
      const chosen = !typed && entry.list && [...entry.list.options].some((option) => option.value === entry.value);
      if (entry.value.includes(",") || chosen) {
        take();
        entry.focus();
      }
    });
    entry.addEventListener("blur", take);
    draw();
    /* `entry.list` works only after the entry was added to the page. */
    if (entry.list?.dataset.more) complete(entry);
  };
  for (const field of document.querySelectorAll("[data-chips]")) chips(field);
})();
