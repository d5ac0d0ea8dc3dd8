// Counts the domains in each list while it changes.
{
  const form = document.querySelector(".domains-form");
  const max = Number(form.dataset.max);
  const lists = [...form.querySelectorAll("textarea")];
  const outputs = [...form.querySelectorAll(".domains-count")];
  const count = (list) => list.value.split("\n").filter((line) => line.trim()).length;

  const update = () => {
    const counts = lists.map(count);
    const isTooMany = counts.reduce((sum, number) => sum + number, 0) > max;
    counts.forEach((number, index) => {
      const domains = number === 1 ? "domain" : "domains";
      outputs[index].textContent = `${number.toLocaleString("en")} ${domains}`;
      outputs[index].classList.toggle("domains-too-many", isTooMany);
    });
  };

  form.addEventListener("input", update);
  update();
}
