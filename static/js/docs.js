// The languages of the docs' examples become tabs, and the one that was chosen is shown from then
// on. Without a script they stand below each other.
{
  const NAME = "language-of-examples";
  const LANGUAGES = ["curl", "python", "javascript"];
  const root = document.documentElement;

  // A browser may forbid to remember.
  const remembered = () => {
    try {
      return localStorage.getItem(NAME);
    } catch {
      return null;
    }
  };
  const remember = (language) => {
    try {
      localStorage.setItem(NAME, language);
    } catch {
      // Then it is for this page alone.
    }
  };

  // Before anything is drawn; the style sheet shows what this names.
  root.dataset.language = LANGUAGES.includes(remembered()) ? remembered() : LANGUAGES[0];

  const mark = () => {
    for (const list of document.querySelectorAll(".languages")) {
      const tabs = [...list.children];
      const chosen = tabs.find((tab) => tab.dataset.language === root.dataset.language) ?? tabs[0];
      for (const tab of tabs) {
        tab.setAttribute("aria-selected", tab === chosen);
        tab.tabIndex = tab === chosen ? 0 : -1;
      }
    }
  };

  // All examples of the page change, and what was pressed stays where it is.
  const choose = (tab) => {
    const before = tab.getBoundingClientRect().top;
    root.dataset.language = tab.dataset.language;
    remember(tab.dataset.language);
    mark();
    tab.focus();
    window.scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: "instant" });
  };

  const beside = (tab, key) => {
    const steps = { ArrowLeft: tab.previousElementSibling, ArrowRight: tab.nextElementSibling };
    return steps[key];
  };

  document.addEventListener("DOMContentLoaded", () => {
    for (const list of document.querySelectorAll(".languages")) {
      list.setAttribute("role", "tablist");
      list.setAttribute("aria-label", "Language");
      for (const tab of list.children) {
        const panel = document.getElementById(tab.getAttribute("aria-controls"));
        tab.setAttribute("role", "tab");
        panel.setAttribute("role", "tabpanel");
        panel.setAttribute("aria-labelledby", tab.id);
        tab.addEventListener("click", () => choose(tab));
        tab.addEventListener("keydown", (event) => {
          const next = beside(tab, event.key);
          if (next) {
            event.preventDefault();
            choose(next);
          }
        });
      }
    }
    mark();
  });

  // On a narrow screen the menu covers the page: what it led to is to be seen.
  window.addEventListener("hashchange", () => {
    document.querySelector(".docs-menu").open = false;
  });
}
