// Enhancements for every page. Everything works without JavaScript.

// Screen readers announce these links as buttons, so Space must activate them.
document.addEventListener("keydown", (event) => {
  if (event.key === " " && event.target.matches("a[role=button]")) {
    event.preventDefault();
    event.target.click();
  }
});

// Escape closes the menu that has the focus, and returns the focus to the menu's button.
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && event.target.closest("details[data-menu][open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});

// Enter in the passkey form must click its button, which asks the browser to create the passkey.
document.addEventListener("submit", (event) => {
  const button = document.getElementById("mfa_webauthn_add");
  const credential = event.target.elements.namedItem("credential");
  if (button && credential && ["", "null"].includes(credential.value)) {
    event.preventDefault();
    button.click();
  }
});

// The browser has no passkey, or the user canceled.
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const banner = document.getElementById("passkey-failed");
  if (banner) {
    banner.hidden = false;
  }
});

// Buttons that copy another element's text, or the text at a URL. They are hidden without JavaScript.
for (const button of document.querySelectorAll("button[data-copy], button[data-copy-url]")) {
  const label = button.querySelector("span");
  const name = label.textContent;
  const readText = async () => {
    const { copy, copyUrl } = button.dataset;
    return copy ? document.getElementById(copy).textContent : (await fetch(copyUrl)).text();
  };
  button.hidden = !navigator.clipboard;
  label.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(await readText());
      label.textContent = "Copied";
    } catch {
      label.textContent = "Copy failed";
    }
    setTimeout(() => {
      label.textContent = name;
    }, 2000);
  });
}

// Set the cookie from which the server learns the browser's time zone, for the dashboard's times.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && document.querySelector(".app-frame") && !document.cookie.includes(`timezone=${zone}`)) {
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `timezone=${zone}; path=/; samesite=lax${secure}`;
}

// Elements that poll until their update has arrived. Without JavaScript there is a link instead.
for (const element of document.querySelectorAll("[data-poll]")) {
  let delay = 1500;
  let shown = null;
  const pollLater = () => setTimeout(poll, (delay = Math.min(delay * 1.02, 15000)));
  const poll = async () => {
    const response = document.hidden ? null : await fetch(element.dataset.poll).catch(() => null);
    if (response && (response.redirected || (response.status >= 400 && response.status < 500))) {
      element.textContent = "Updates have stopped, for example because you signed out. Reload this page.";
      return;
    }
    const html = response?.status === 200 ? await response.text() : null;
    if (html?.includes("data-reload")) {
      // The rest of the page has changed, too.
      location.reload();
      return;
    }
    if (html !== null && html !== shown) {
      shown = html;
      element.innerHTML = html;
    }
    // Poll again after an error, and until a request has returned a verdict.
    if (html === null || element.querySelector("[data-poll-again]")) {
      pollLater();
    }
  };
  poll();
}

// Buttons that fill in a field and move the focus to the password.
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-fill]");
  if (button) {
    const field = document.getElementById(button.dataset.fill);
    field.value = button.dataset.text;
    field.removeAttribute("aria-invalid");
    field.parentElement.querySelector(".errorlist")?.remove();
    field.form.querySelector("[autocomplete$=password]").focus();
    button.closest("[role=status]")?.replaceChildren();
    button.remove();
  }
});

// Buttons that show a password. Hidden without JavaScript.
for (const button of document.querySelectorAll("button[data-reveal]")) {
  const field = document.getElementById(button.dataset.reveal);
  const reveal = (isShown) => {
    field.type = isShown ? "text" : "password";
    button.setAttribute("aria-pressed", String(isShown));
  };
  // Browsers must neither send it to a spelling service nor correct it.
  field.spellcheck = false;
  field.autocapitalize = "none";
  button.hidden = false;
  button.addEventListener("click", () => reveal(field.type === "password"));
  // Sent as a text, it would be offered in other fields.
  field.form.addEventListener("submit", () => reveal(false));
}

// Buttons that print the page. Hidden without JavaScript.
for (const button of document.querySelectorAll("button[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}

// This page is the response to a POST. Replace its URL, so that Reload and Back send a GET.
for (const element of document.querySelectorAll("[data-address]")) {
  history.replaceState(null, "", element.dataset.address);
}

// Remove secrets before the browser stores the page in its back/forward cache.
window.addEventListener("pagehide", () => {
  for (const element of document.querySelectorAll("[data-shown-once]")) {
    element.textContent = "This was shown once and can't be shown again.";
  }
});
