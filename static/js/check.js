// The form on the landing page. That page is the same for every visitor and contains no token, so
// the script fetches the form's own page, which has one. Without JavaScript, the button opens it.
const form = document.querySelector(".check-form-live");
const input = document.getElementById("check-email");
const result = document.getElementById("check-result");
let token = null;
let isPending = false;

async function fetchPage(options) {
  const response = await fetch(form.action, options);
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

async function fetchToken() {
  const page = await fetchPage();
  return page.querySelector("[name=csrfmiddlewaretoken]").value;
}

// Fetch the token when a visitor is about to type, or again after a failure.
async function getToken() {
  token ??= fetchToken();
  try {
    return await token;
  } catch {
    token = null;
    return "";
  }
}

async function check() {
  const body = new URLSearchParams({ email: input.value, csrfmiddlewaretoken: await getToken() });
  const page = await fetchPage({ method: "POST", body });
  result.replaceChildren(...page.getElementById("check-result").childNodes);
}

form.noValidate = false;
form.addEventListener("focusin", getToken, { once: true });
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (isPending) {
    return;
  }
  isPending = true;
  result.classList.add("check-result-pending");
  try {
    await check();
  } catch {
    token = null;
    result.textContent = "The check failed. Try again in a few seconds.";
  }
  result.classList.remove("check-result-pending");
  isPending = false;
});
