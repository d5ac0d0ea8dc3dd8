// What each page does beyond its forms and links; everything works without it.

// A link that looks like a button is announced as one: Space must press it too.
document.addEventListener("keydown", (event) => {
  if (event.key === " " && event.target.matches("a[role=button]")) {
    event.preventDefault();
    event.target.click();
  }
});

// Enter in the form of a new passkey presses its button, which asks the browser for the key.
document.addEventListener("submit", (event) => {
  const button = document.getElementById("mfa_webauthn_add");
  const credential = event.target.elements.namedItem("credential");
  if (button && credential && ["", "null"].includes(credential.value)) {
    event.preventDefault();
    button.click();
  }
});

// The browser had no passkey, or its user changed their mind.
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const banner = document.getElementById("passkey-failed");
  if (banner) {
    banner.hidden = false;
  }
});

// A button that copies another element's text, and says so. Without a script it is not there.
for (const button of document.querySelectorAll("button[data-copy]")) {
  const said = button.querySelector("span");
  button.hidden = !navigator.clipboard;
  said.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      said.textContent = "Copied";
    } catch {
      said.textContent = "Copy it by hand";
    }
    setTimeout(() => {
      said.textContent = "Copy";
    }, 2000);
  });
}

// The dashboard shows hours in the reader's own time, which the server learns from this cookie.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && document.querySelector(".frame") && !document.cookie.includes(`timezone=${zone}`)) {
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `timezone=${zone}; path=/; samesite=lax${secure}`;
}

// A piece of the page that asks until its news has come. Without a script there is a link.
for (const element of document.querySelectorAll("[data-poll]")) {
  let pause = 1500;
  const askLater = () => setTimeout(ask, (pause = Math.min(pause * 1.02, 15000)));
  const ask = async () => {
    const answer = document.hidden ? null : await fetch(element.dataset.poll).catch(() => null);
    if (answer && (answer.redirected || (answer.status >= 400 && answer.status < 500))) {
      element.textContent = "This page hears of no more requests: you were signed out, or work elsewhere. Open the overview to see them.";
      return;
    }
    const news = answer?.status === 200 ? await answer.text() : null;
    if (news !== null && news !== element.dataset.news) {
      element.dataset.news = news;
      element.innerHTML = news;
    }
    // What was refused will be tried again.
    if (news === null || element.querySelector("[data-ask-again]")) {
      askLater();
    }
  };
  ask();
}

// A button that fills in a field, and leads to the next thing to do. Without a script one types.
for (const button of document.querySelectorAll("button[data-fill]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const field = document.getElementById(button.dataset.fill);
    field.value = button.dataset.text;
    field.removeAttribute("aria-invalid");
    field.parentElement.querySelector(".errorlist")?.remove();
    button.form.querySelector("input[type=password]").focus();
    button.remove();
  });
}

// A button that prints the page. Without a script the browser's own menu does.
for (const button of document.querySelectorAll("button[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}

// This page was the answer to a form. Reload and Back lead to one that can be asked for again.
for (const element of document.querySelectorAll("[data-address]")) {
  history.replaceState(null, "", element.dataset.address);
}

// A browser may keep a page as it was left, for Back: a secret must not be on it then.
window.addEventListener("pagehide", () => {
  for (const element of document.querySelectorAll("[data-shown-once]")) {
    element.textContent = "It was shown once and cannot be shown again.";
  }
});
