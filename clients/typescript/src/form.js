// Shows a suggestion below the email field of <form data-email-check="/your/route">. It asks that
// route of your own server, never blocks the form, and the form works without it.
// Texts: data-email-suggestion="Did you mean {address}?" on the form.
for (const form of document.querySelectorAll("form[data-email-check]")) {
  const field = form.querySelector("input[type=email]");
  if (!field) {
    continue;
  }
  const note = document.createElement("p");
  note.className = "email-check";
  note.id = `${field.id || "email"}-check`;
  note.setAttribute("aria-live", "polite");
  field.after(note);
  field.setAttribute("aria-describedby", `${field.getAttribute("aria-describedby") || ""} ${note.id}`.trim());
  let checked = "";

  const show = ({ suggestion, message, accept }) => {
    note.textContent = "";
    if (suggestion) {
      const sentence = form.dataset.emailSuggestion || "Did you mean {address}?";
      const [before, after = ""] = sentence.split("{address}");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = suggestion;
      button.addEventListener("click", () => {
        field.value = checked = suggestion;
        note.textContent = "";
        field.focus();
        field.dispatchEvent(new Event("input", { bubbles: true }));
      });
      note.append(before, button, after);
    } else if (!accept) {
      note.textContent = message || "";
    }
  };

  field.addEventListener("input", () => {
    if (field.value !== checked) {
      note.textContent = "";
    }
  });

  field.addEventListener("change", async () => {
    const email = field.value.trim();
    if (!email || email === checked || !field.validity.valid) {
      return;
    }
    checked = email;
    try {
      const response = await fetch(form.dataset.emailCheck, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ email }),
      });
      const answer = await response.json();
      if (response.ok && field.value.trim() === email) {
        show(answer);
      }
    } catch {
      // Without an answer, there is nothing to show.
    }
  });
}
