// Filter forms that apply themselves. Without JavaScript they have a button.
{
  const KEY = "changed-filter";

  for (const form of document.querySelectorAll("form[data-apply]")) {
    const apply = (changed) => {
      const focused = document.activeElement?.id || changed.id;
      sessionStorage.setItem(KEY, JSON.stringify([focused, window.scrollY]));
      form.requestSubmit();
    };

    form.addEventListener("change", (event) => {
      // While a year is being typed, a date is out of range.
      if (form.checkValidity()) {
        // A text field changes when it loses the focus: wait until the next field has it.
        setTimeout(apply, 0, event.target);
      }
    });

    // Keep the URL short: leave out empty filters.
    form.addEventListener("formdata", ({ formData }) => {
      for (const [name, value] of [...formData]) {
        if (!value) {
          formData.delete(name);
        }
      }
    });

    // Back shows the page with the filters it was loaded with.
    window.addEventListener("pageshow", (event) => event.persisted && form.reset());
  }

  // The page has reloaded: return to where the focus was.
  const [id, scrollY] = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
  sessionStorage.removeItem(KEY);
  if (id) {
    document.getElementById(id)?.focus({ preventScroll: true });
    window.scrollTo({ top: scrollY, behavior: "instant" });
  }
}
