// Suggests the first results of the search page while the reader types. Without JavaScript, the form
// opens that page.
{
  const MAX_SUGGESTIONS = 8;
  const PAUSE_MS = 120;
  const form = document.querySelector(".docs-search form");
  const input = form.querySelector("input");
  const list = form.querySelector("[role=listbox]");
  let active = -1;
  let timer = 0;

  const search = async (query) => {
    const response = await fetch(`${form.action}?${new URLSearchParams({ q: query })}`);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    return [...page.querySelectorAll(".docs-found li")];
  };

  const close = () => {
    clearTimeout(timer);
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };

  const makeOption = (result, number) => {
    const option = result.querySelector("a");
    option.id = `docs-search-${number}`;
    option.tabIndex = -1;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    const page = result.querySelector("span");
    if (page) {
      page.className = "";
      option.append(" ", page);
    }
    return option;
  };

  const suggest = async () => {
    const query = input.value.trim();
    const found = query ? await search(query).catch(() => []) : [];
    // The reader has typed more, or has left the field.
    if (query !== input.value.trim() || document.activeElement !== input) {
      return;
    }
    close();
    list.replaceChildren(...found.slice(0, MAX_SUGGESTIONS).map(makeOption));
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(found.length > 0));
  };

  const suggestAfterPause = () => {
    clearTimeout(timer);
    timer = setTimeout(suggest, PAUSE_MS);
  };

  const activate = (number) => {
    const options = [...list.children];
    active = (number + options.length) % options.length;
    for (const [at, option] of options.entries()) {
      option.setAttribute("aria-selected", String(at === active));
    }
    input.setAttribute("aria-activedescendant", options[active].id);
    options[active].scrollIntoView({ block: "nearest" });
  };

  const handleKey = (event) => {
    const actions = {
      Escape: close,
      ArrowDown: () => activate(active + 1),
      ArrowUp: () => activate(Math.max(active, 0) - 1),
      Enter: active >= 0 ? () => list.children[active].click() : null,
    };
    const action = list.hidden ? null : actions[event.key];
    if (action) {
      // Browsers would clear the field, move its cursor or submit the form.
      event.preventDefault();
      action();
    }
  };

  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-expanded", "false");
  input.addEventListener("input", suggestAfterPause);
  input.addEventListener("keydown", handleKey);
  // After a link to a section of this page.
  list.addEventListener("click", () => {
    close();
    input.blur();
  });
  form.addEventListener("focusout", (event) => {
    if (!form.contains(event.relatedTarget)) {
      close();
    }
  });

  const readSetting = (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      // The browser blocks it.
      return null;
    }
  };

  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
    // Turned off in the dashboard's list of shortcuts.
    const isOff = readSetting("shortcuts") === "off";
    if (event.key === "/" && !isOff && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
}
