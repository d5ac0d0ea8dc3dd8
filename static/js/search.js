// Suggests pages and sections of the docs while the reader types. Without JavaScript the form opens
// the search page, which ranks the same index: keep this like validation/docs/search.py.
{
  const MAX_SUGGESTIONS = 8;
  const form = document.querySelector(".docs-search form");
  const input = form.querySelector("input");
  const list = form.querySelector("[role=listbox]");
  let index = null;
  let active = -1;

  // Loaded when the reader first uses the search. A failed request is repeated the next time.
  const load = () => {
    index ??= fetch(form.dataset.index)
      .then((response) => response.json())
      .catch(() => {
        index = null;
        return [];
      });
    return index;
  };

  const title = (entry) => entry.section || entry.page;

  const scoreTerm = (entry, term) => {
    const names = entry.names.map((name) => name.toLowerCase());
    const levels = [
      [60, !entry.section && entry.page.toLowerCase().includes(term)],
      [50, names.includes(term)],
      [20, title(entry).toLowerCase().includes(term)],
      [10, names.some((name) => name.includes(term))],
      [5, entry.page.toLowerCase().includes(term)],
      [1, entry.text.toLowerCase().includes(term)],
    ];
    return levels.find(([, isMatch]) => isMatch)?.[0] ?? 0;
  };

  const search = (entries, query) => {
    const phrase = query.toLowerCase().trim().split(/\s+/).join(" ");
    const terms = phrase.split(" ").slice(0, 8);
    const score = (entry) => {
      const scores = terms.map((term) => scoreTerm(entry, term));
      const bonus = title(entry).toLowerCase() === phrase ? 100 : 0;
      return scores.includes(0) ? 0 : scores.reduce((sum, one) => sum + one, bonus);
    };
    return entries
      .map((entry) => [score(entry), entry])
      .filter(([points]) => points)
      .sort(([first], [second]) => second - first)
      .map(([, entry]) => entry);
  };

  const close = () => {
    list.hidden = true;
    active = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };

  const draw = (entry, number) => {
    const option = document.createElement("a");
    option.id = `docs-search-${number}`;
    option.href = entry.url;
    option.tabIndex = -1;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    option.textContent = title(entry);
    if (entry.section) {
      const page = document.createElement("span");
      page.textContent = entry.page;
      option.append(" ", page);
    }
    return option;
  };

  const suggest = async () => {
    const entries = await load();
    const found = input.value.trim() ? search(entries, input.value).slice(0, MAX_SUGGESTIONS) : [];
    close();
    list.replaceChildren(...found.map(draw));
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(found.length > 0));
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

  const press = (event) => {
    const actions = {
      Escape: close,
      ArrowDown: () => activate(active + 1),
      ArrowUp: () => activate(Math.max(active, 0) - 1),
      Enter: active >= 0 ? () => list.children[active].click() : null,
    };
    const act = list.hidden ? null : actions[event.key];
    if (act) {
      // Browsers would clear the field, move its cursor or submit the form.
      event.preventDefault();
      act();
    }
  };

  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-controls", list.id);
  input.setAttribute("aria-expanded", "false");
  input.addEventListener("focus", load);
  input.addEventListener("input", suggest);
  input.addEventListener("keydown", press);
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

  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
}
