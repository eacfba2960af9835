/* Upload: accepts dropped files, shows the progress, and discards a preview when you leave it. */
(() => {
  "use strict";
  const figures = new Intl.NumberFormat("en");
  const mib = (bytes) => `${figures.format(Math.round((bytes / 1048576) * 10) / 10)} MiB`;

  /* -- The preview ---------------------------------------------------------------------------------------- */

  const decision = document.getElementById("decision");
  if (decision) {
    let decided = false;
    decision.addEventListener("submit", () => { decided = true; });
    window.addEventListener("pagehide", () => {
      if (decided) return;
      const data = new FormData(decision);
      data.set("do", "leave");
      navigator.sendBeacon(location.href, data);
    });
    window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
  }

  /* -- Sending ------------------------------------------------------------------------------------------- */

  const form = document.getElementById("upload");
  if (!form) return;
  const zone = form.querySelector("[data-dropzone]");
  const panel = form.querySelector("[data-progress]");
  const part = (name) => form.querySelector(`[data-progress-${name}]`);
  const bar = panel.querySelector("progress");
  let sending = null;

  /* Clear the fields: browsers send no change event if the same file is chosen again. */
  const empty = () => {
    for (const field of form.querySelectorAll("input[type=file]")) field.value = "";
  };

  const say = (words) => {
    const place = document.getElementById("upload-result");
    empty();
    const box = document.createElement("div");
    const line = document.createElement("p");
    const strong = document.createElement("strong");
    box.className = "notice notice--danger";
    box.setAttribute("role", "alert");
    box.innerHTML = '<svg class="icon" aria-hidden="true"><use href="#i-error"/></svg>';
    strong.textContent = words;
    line.append(strong);
    box.append(line);
    place.replaceChildren(box);
  };

  const rest = () => {
    sending = null;
    panel.hidden = true;
    zone.hidden = false;
    empty();
  };

  const send = (name, files) => {
    const sum = files.reduce((total, { file }) => total + file.size, 0);
    const most = Number(form.dataset.most);
    const mostFiles = Number(form.dataset.mostFiles);
    document.getElementById("upload-result").replaceChildren();
    if (!files.length) return say(`${name} has no files. Nothing was sent.`);
    if (sum > most) return say(`${name} has ${mib(sum)}. ${mib(most)} are allowed. Nothing was sent.`);
    if (files.length > mostFiles) {
      return say(`${name} has ${figures.format(files.length)} files. ${figures.format(mostFiles)} are allowed. Nothing was sent.`);
    }
    const data = new FormData();
    data.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    for (const { file, path } of files) {
      if (path) data.append("path", path);
      data.append("file", file, file.name);
    }
    travel(name, data, sum);
  };

  const travel = (name, data, sum) => {
    zone.hidden = true;
    panel.hidden = false;
    part("name").textContent = name;
    part("words").textContent = "Uploading…";
    bar.value = 0;
    sending = new XMLHttpRequest();
    sending.upload.addEventListener("progress", (event) => {
      if (!event.lengthComputable) return;
      const share = event.loaded / event.total;
      bar.value = share * 100;
      part("figures").textContent = `${mib(share * sum)} of ${mib(sum)}`;
      if (share === 1) part("words").textContent = "Uploaded. Checking the files…";
    });
    sending.addEventListener("load", (event) => arrived(event.target));
    sending.addEventListener("error", () => { rest(); say("We couldn’t reach the site. Nothing was saved. Try again."); });
    sending.addEventListener("abort", () => { rest(); say("You stopped the upload. Nothing was saved."); });
    sending.open("POST", form.action);
    sending.setRequestHeader("Accept", "text/html");
    sending.send(data);
  };

  const arrived = (request) => {
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    if (request.status < 400 && page.getElementById("decision")) {
      location.assign(request.responseURL);
      return;
    }
    rest();
    const result = page.getElementById("upload-result");
    if (result) {
      document.getElementById("upload-result").replaceWith(document.adoptNode(result));
      result.querySelector("[role=alert]")?.scrollIntoView({ block: "nearest" });
    } else {
      say(page.querySelector(".bare-text p")?.textContent.trim() || "The upload failed. Nothing was saved.");
    }
  };

  part("stop").addEventListener("click", () => sending?.abort());

  document.getElementById("f-file").addEventListener("change", (event) => {
    const [file] = event.target.files;
    if (file) send(file.name, [{ file, path: "" }]);
  });
  document.getElementById("f-folder").addEventListener("change", (event) => {
    const files = [...event.target.files].map((file) => ({ file, path: file.webkitRelativePath }));
    if (files.length) send(files[0].path.split("/")[0], files);
  });

  /* -- Dropping: a folder has to be read file by file ------------------------------------------------------- */

  const entriesOf = async (directory) => {
    const reader = directory.createReader();
    const all = [];
    for (;;) {
      const some = await new Promise((done, failed) => reader.readEntries(done, failed));
      if (!some.length) return all;
      all.push(...some);
    }
  };
  const walk = async (entry, most, found = []) => {
    if (found.length > most) return found;
    if (entry.isFile) {
      const file = await new Promise((done, failed) => entry.file(done, failed));
      found.push({ file, path: entry.fullPath.replace(/^\//, "") });
    } else {
      for (const each of await entriesOf(entry)) await walk(each, most, found);
    }
    return found;
  };

  const over = (event, held) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    zone.classList.toggle("is-over", held);
  };
  document.addEventListener("dragover", (event) => over(event, true));
  document.addEventListener("dragleave", (event) => over(event, false));
  document.addEventListener("drop", async (event) => {
    over(event, false);
    if (sending || !event.dataTransfer?.types.includes("Files")) return;
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const dropped = [...event.dataTransfer.files];
    if (entries.length > 1 || dropped.length > 1) return say("Drop one zip, one .md file or one folder at a time.");
    const [entry] = entries;
    if (entry?.isDirectory) {
      try {
        send(entry.name, await walk(entry, Number(form.dataset.mostFiles)));
      } catch {
        say("We couldn’t read the folder. Nothing was sent.");
      }
    } else if (dropped[0]) {
      send(dropped[0].name, [{ file: dropped[0], path: "" }]);
    }
  });
})();
