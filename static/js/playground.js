// Lists the addresses validated in this tab. They are stored in its sessionStorage only.
{
  const KEY = "playground-history";
  const MAX = 10;
  const section = document.querySelector("[data-history]");
  const { history: owner, email, outcome } = section.dataset;
  const field = document.getElementById(section.dataset.fills);

  // Another user or account in the same tab starts with an empty list.
  const stored = JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
  let visits = stored.owner === owner ? stored.visits : [];
  if (email) {
    visits = [{ email, outcome }, ...visits.filter((visit) => visit.email !== email)].slice(0, MAX);
  }
  sessionStorage.setItem(KEY, JSON.stringify({ owner, visits }));

  const makeItem = (visit) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button-quiet try-chip";
    button.dir = "auto";
    button.textContent = visit.email;
    // Fills in the field only: validating again may cost a credit.
    button.addEventListener("click", () => {
      field.value = visit.email;
      field.focus();
    });
    const badge = document.createElement("span");
    badge.className = `badge badge-${visit.outcome}`;
    badge.textContent = visit.outcome;
    item.append(button, badge);
    return item;
  };

  section.querySelector("ul").append(...visits.map(makeItem));
  section.hidden = visits.length === 0;
}
