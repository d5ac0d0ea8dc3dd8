// Turns the sections of `data-tabs` into tabs, and remembers the chosen one. Without JavaScript, all
// sections are shown below each other. https://www.w3.org/WAI/ARIA/apg/patterns/tabs/
{
  const KEYS = {
    ArrowLeft: (index, count) => (index + count - 1) % count,
    ArrowRight: (index, count) => (index + 1) % count,
    Home: () => 0,
    End: (_, count) => count - 1,
  };

  const makeTab = (panel) => {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.id = `tab-${panel.id}`;
    tab.textContent = panel.dataset.tab;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    panel.tabIndex = 0;
    return tab;
  };

  for (const group of document.querySelectorAll("[data-tabs]")) {
    const panels = [...group.querySelectorAll(":scope > [data-tab]")];
    const tabs = panels.map(makeTab);
    const name = `tab-of-${group.dataset.tabs}`;

    const choose = (index) => {
      for (const [other, tab] of tabs.entries()) {
        tab.setAttribute("aria-selected", other === index);
        tab.tabIndex = other === index ? 0 : -1;
        panels[other].hidden = other !== index;
      }
      sessionStorage.setItem(name, panels[index].id);
    };

    for (const [index, tab] of tabs.entries()) {
      tab.addEventListener("click", () => choose(index));
      tab.addEventListener("keydown", (event) => {
        const next = KEYS[event.key]?.(index, tabs.length);
        if (next !== undefined) {
          event.preventDefault();
          choose(next);
          tabs[next].focus();
        }
      });
    }

    const list = document.createElement("div");
    list.className = "tabs-list";
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", group.dataset.tabs);
    list.append(...tabs);
    group.prepend(list);
    choose(Math.max(0, panels.findIndex((panel) => panel.id === sessionStorage.getItem(name))));
  }
}
