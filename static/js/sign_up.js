// Suggests a correction once the email field has been filled in. It never blocks the form, and without an
// answer nothing is shown.
{
  const form = document.querySelector("form[data-suggest]");
  const input = form.elements.namedItem("email");
  const typed = form.elements.namedItem("typed_email");
  // Screen readers announce what is added to it later.
  const note = document.createElement("div");
  note.className = "field-correction";
  note.setAttribute("role", "status");
  input.after(note);

  const suggest = async () => {
    const email = input.value;
    const token = form.elements.namedItem("csrfmiddlewaretoken").value;
    const body = new URLSearchParams({ email, csrfmiddlewaretoken: token });
    const response = await fetch(form.dataset.suggest, { method: "POST", body });
    const html = response.ok ? (await response.text()).trim() : "";
    if (html && input.value === email) {
      note.innerHTML = html;
      // It has been seen: submitting the form now confirms the address.
      typed.value = email.trim().toLowerCase();
    }
  };

  input.addEventListener("change", () => {
    note.replaceChildren();
    if (input.value.includes("@")) {
      suggest().catch(() => {});
    }
  });
}
