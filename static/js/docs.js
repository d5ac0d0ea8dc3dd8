// Turns the languages of the docs' examples into tabs and remembers the chosen one. Without
// JavaScript, all languages are shown below each other.
{
  const NAME = "language-of-examples";
  const LANGUAGES = ["python", "typescript", "curl", "http-python", "http-javascript"];
  const root = document.documentElement;

  // localStorage throws if the browser blocks it.
  const storedLanguage = () => {
    try {
      return localStorage.getItem(NAME);
    } catch {
      return null;
    }
  };
  const storeLanguage = (language) => {
    try {
      localStorage.setItem(NAME, language);
    } catch {
      // The choice then applies to this page only.
    }
  };

  // Set before the first paint: examples.css shows the language that this attribute names.
  root.dataset.language = LANGUAGES.includes(storedLanguage()) ? storedLanguage() : LANGUAGES[0];

  const updateTabs = () => {
    for (const list of document.querySelectorAll(".example-languages")) {
      const tabs = [...list.children];
      const chosen = tabs.find((tab) => tab.dataset.language === root.dataset.language) ?? tabs[0];
      for (const tab of tabs) {
        tab.setAttribute("aria-selected", tab === chosen);
        tab.tabIndex = tab === chosen ? 0 : -1;
      }
    }
  };

  // Switch all examples on the page, and scroll so that the clicked tab stays in place.
  const chooseTab = (tab) => {
    const before = tab.getBoundingClientRect().top;
    root.dataset.language = tab.dataset.language;
    storeLanguage(tab.dataset.language);
    updateTabs();
    tab.focus();
    window.scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: "instant" });
  };

  const neighbor = (tab, key) => {
    const steps = { ArrowLeft: tab.previousElementSibling, ArrowRight: tab.nextElementSibling };
    return steps[key];
  };

  document.addEventListener("DOMContentLoaded", () => {
    for (const list of document.querySelectorAll(".example-languages")) {
      list.setAttribute("role", "tablist");
      list.setAttribute("aria-label", "Language");
      for (const tab of list.children) {
        const panel = document.getElementById(tab.getAttribute("aria-controls"));
        tab.setAttribute("role", "tab");
        panel.setAttribute("role", "tabpanel");
        panel.setAttribute("aria-labelledby", tab.id);
        tab.addEventListener("click", () => chooseTab(tab));
        tab.addEventListener("keydown", (event) => {
          const next = neighbor(tab, event.key);
          if (next) {
            event.preventDefault();
            chooseTab(next);
          }
        });
      }
    }
    updateTabs();
  });

  // On narrow screens the open menu covers the page, so close it after a link to a section.
  window.addEventListener("hashchange", () => {
    document.querySelector(".docs-menu").open = false;
  });
}
