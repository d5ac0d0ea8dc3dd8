// Shows a suggestion below the email field of <form data-email-check="/your/route">. It asks that
// route of your own server, never blocks the form, and the form works without it.
// Texts: data-email-suggestion="Did you mean {address}?" on the form.
for (const [index, form] of document.querySelectorAll("form[data-email-check]").entries()) {
  const field = form.querySelector("input[type=email]");
  if (!field) {
    continue;
  }
  const note = document.createElement("p");
  note.className = "email-check";
  note.id = `${field.id || `email-${index}`}-check`;
  note.setAttribute("aria-live", "polite");
  field.after(note);
  const described = field.getAttribute("aria-describedby") || "";
  field.setAttribute("aria-describedby", `${described} ${note.id}`.trim());
  let checked = "";

  const show = ({ suggestion, message, accept }) => {
    note.textContent = accept || suggestion ? "" : message || "";
    if (suggestion) {
      const sentence = form.dataset.emailSuggestion || "Did you mean {address}?";
      const [before, after = ""] = sentence.split("{address}");
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = suggestion;
      button.onclick = () => {
        field.value = checked = suggestion;
        note.textContent = "";
        field.focus();
        field.dispatchEvent(new Event("input", { bubbles: true }));
      };
      note.append(before, button, after);
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
    try {
      const response = await fetch(form.dataset.emailCheck, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ email }),
      });
      const answer = await response.json();
      if (response.ok && field.value.trim() === email) {
        show(answer);
        checked = email;
      }
    } catch {
      // Without an answer, there is nothing to show.
    }
  });
}
