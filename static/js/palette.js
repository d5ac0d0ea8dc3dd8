// Search as a dialog (⌘K, Ctrl+K), and single-key shortcuts. Without JavaScript, links open the page.
{
  const PAUSE_MS = 120;
  // How long the second key of a shortcut may take.
  const SEQUENCE_MS = 1500;
  const MAX_RECENT = 5;
  const RECENT_KEY = "palette-recent";
  const SHORTCUTS_KEY = "shortcuts";
  let storage = {};
  try {
    // Throws if the browser blocks it.
    storage = localStorage;
  } catch {}
  const isMac = /Mac|iPhone|iPad/.test(navigator.platform);
  const palette = document.getElementById("palette");
  const shortcuts = document.getElementById("shortcuts");
  const form = palette.querySelector("form");
  const input = palette.querySelector("input");
  const list = palette.querySelector("[role=listbox]");
  const status = palette.querySelector("[role=status]");
  let timer = 0;
  let search = new AbortController();
  let isPending = false;
  let opensFirst = false;
  let active = null;
  // The URL that the reader has moved to since the last input.
  let chosen = null;

  const activate = (option) => {
    active?.setAttribute("aria-selected", "false");
    option?.setAttribute("aria-selected", "true");
    option?.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-expanded", String(Boolean(option)));
    input.setAttribute("aria-activedescendant", option?.id ?? "");
    active = option;
  };

  const readRecent = () => JSON.parse(storage[RECENT_KEY] ?? "[]");

  // Only URLs are stored: titles come from the server, for what this member may still open.
  const remember = (url) => {
    const urls = [...new Set([url, ...readRecent()])].slice(0, MAX_RECENT);
    storage[RECENT_KEY] = JSON.stringify(urls);
  };

  const showRecentFirst = () => {
    const findOption = (url) => list.querySelector(`[href="${CSS.escape(url)}"]`);
    const recent = readRecent().map(findOption).filter(Boolean);
    if (recent.length === 0) {
      return;
    }
    const group = list.querySelector("[role=group]").cloneNode();
    const title = list.querySelector("[role=presentation]").cloneNode();
    title.id = "palette-recent";
    title.textContent = "Recent";
    group.setAttribute("aria-labelledby", title.id);
    group.append(title, ...recent);
    list.prepend(group);
    for (const other of list.querySelectorAll("[role=group]")) {
      other.hidden = !other.querySelector("[role=option]");
    }
  };

  const show = (html) => {
    list.innerHTML = html;
    if (html && !input.value.trim()) {
      showRecentFirst();
    }
    const options = list.querySelectorAll("[role=option]");
    for (const [number, option] of options.entries()) {
      option.id = `palette-option-${number}`;
    }
    list.scrollTop = 0;
    activate([...options].find((option) => option.getAttribute("href") === chosen) ?? options[0] ?? null);
    status.textContent = options.length === 1 ? "1 result" : `${options.length} results`;
  };

  const find = async () => {
    search.abort();
    search = new AbortController();
    const { signal } = search;
    try {
      const query = new URLSearchParams({ q: input.value, options: "" });
      const response = await fetch(`${form.action}?${query}`, { signal });
      if (!response.ok || response.redirected) {
        throw new Error(`The search responded ${response.status}.`);
      }
      show(await response.text());
    } catch {
      if (signal.aborted) {
        return;
      }
      show("");
      status.textContent = "Search failed. Press Enter to open the search page.";
    }
    isPending = false;
    if (opensFirst) {
      openActive();
    }
  };

  const findAfterPause = () => {
    clearTimeout(timer);
    isPending = true;
    opensFirst = false;
    chosen = null;
    timer = setTimeout(find, PAUSE_MS);
  };

  const move = (step) => {
    const options = [...list.querySelectorAll("[role=option]")];
    const next = (options.indexOf(active) + step + options.length) % options.length;
    activate(options[next] ?? null);
    chosen = active?.getAttribute("href") ?? null;
  };

  // Enter opens what the text finds, although the results may not have arrived yet.
  const openActive = () => {
    if (isPending) {
      opensFirst = true;
    } else {
      active ? active.click() : form.submit();
    }
  };

  input.addEventListener("input", findAfterPause);
  input.addEventListener("keydown", (event) => {
    const actions = { ArrowDown: () => move(1), ArrowUp: () => move(-1), Enter: openActive };
    if (actions[event.key] && !event.isComposing) {
      event.preventDefault();
      actions[event.key]();
    }
  });
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) {
      remember(option.getAttribute("href"));
      palette.close();
    }
  });

  const open = (dialog) => {
    palette.close();
    shortcuts.close();
    for (const menu of document.querySelectorAll("details[data-menu][open]")) {
      menu.open = false;
    }
    dialog.showModal();
    if (dialog === palette) {
      input.value = "";
      input.focus();
      findAfterPause();
    }
  };

  for (const dialog of [palette, shortcuts]) {
    // A click on the backdrop, or on the button.
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || event.target.closest("[data-close]")) {
        dialog.close();
      }
    });
  }
  document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open]");
    if (opener && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      open(document.getElementById(opener.dataset.open));
    }
  });
  for (const key of document.querySelectorAll("[data-command]")) {
    key.textContent = isMac ? "⌘ K" : "Ctrl K";
  }

  // People who dictate, or hit keys by accident, can turn single keys off (WCAG 2.1.4).
  const checkbox = shortcuts.querySelector("[data-shortcuts]");
  checkbox.checked = storage[SHORTCUTS_KEY] !== "off";
  checkbox.addEventListener("change", () => {
    storage[SHORTCUTS_KEY] = checkbox.checked ? "on" : "off";
  });

  let [first, firstAt] = ["", 0];
  const handleSingleKey = (event) => {
    const keys = first && event.timeStamp - firstAt < SEQUENCE_MS ? `${first} ${event.key}` : event.key;
    const link = shortcuts.querySelector(`[data-keys="${CSS.escape(keys)}"]`);
    first = shortcuts.querySelector(`[data-keys^="${CSS.escape(keys)} "]`) ? keys : "";
    firstAt = event.timeStamp;
    if (link || keys === "?") {
      event.preventDefault();
      link ? link.click() : open(shortcuts);
    }
  };

  document.addEventListener("keydown", (event) => {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
    // A field of a dialog that has just been closed may still have the focus.
    const isTyping =
      event.target.checkVisibility() &&
      event.target.closest("input, textarea, select, [contenteditable], dialog");
    if (event.key.toLowerCase() === "k" && (isMac ? event.metaKey : event.ctrlKey) && !event.altKey) {
      event.preventDefault();
      palette.open ? palette.close() : open(palette);
    } else if (isPlain && !isTyping && checkbox.checked) {
      handleSingleKey(event);
    }
  });
}
