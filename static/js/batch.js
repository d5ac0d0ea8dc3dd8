// Counts the addresses in the playground's text while it changes, and the credits they may cost.
{
  const form = document.querySelector(".batch-form");
  const text = form.querySelector("textarea");
  const output = form.querySelector(".batch-count");
  const max = Number(form.dataset.max);
  const plural = (count, one, many) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

  const update = () => {
    const lines = text.value.split("\n").map((line) => line.trim());
    const addresses = lines.filter(Boolean);
    const priced = addresses.filter((address) => !/.@sandbox\.test$/i.test(address));
    const credits = plural(new Set(priced).size, "credit", "credits");
    output.textContent = `${addresses.length.toLocaleString("en")} of ${max} addresses. At most ${credits}; unknown results and duplicates are free.`;
    output.classList.toggle("batch-too-many", addresses.length > max);
  };

  text.addEventListener("input", update);
  update();
}
