// Charts show the split of the bar under the pointer, the finger or the focus in their legend.
// Without JavaScript, the browser shows each bar's title, and the table has the numbers.

const setUpChart = (chart) => {
  const label = chart.querySelector("[data-chart-label]");
  const note = chart.querySelector("[data-chart-note]");
  const link = chart.querySelector("[data-chart-link]");
  const counts = [...chart.querySelectorAll("[data-chart-count]")];
  const plot = chart.querySelector(".chart-bars");
  const bars = [...plot.querySelectorAll(".chart-bar")];
  const total = { label: label.textContent, counts: counts.map((count) => count.textContent) };
  let isTouch = false;
  let tapped = null;

  // Otherwise the browser's tooltip would cover the chart.
  const titles = new Map();
  for (const bar of bars) {
    const title = bar.querySelector("title");
    titles.set(bar, title.textContent.split("\n"));
    bar.setAttribute("aria-label", title.textContent.replaceAll("\n", ", "));
    title.remove();
  }

  const show = (shown) => {
    const [text, ...split] = shown ? titles.get(shown) : [total.label];
    label.textContent = text;
    const numbers = new Map(split.map((line) => line.split(" ").reverse()));
    counts.forEach((count, position) => {
      const number = numbers.get(count.dataset.chartCount) ?? "0";
      count.textContent = shown ? number : total.counts[position];
    });
    for (const bar of bars) {
      bar.classList.toggle("chart-active", bar === shown);
    }
    note?.classList.toggle("chart-quiet", Boolean(shown));
    link.hidden = !(isTouch && shown?.hasAttribute("href"));
    if (!link.hidden) {
      link.href = shown.getAttribute("href");
    }
  };

  const barAt = (event) => {
    const { left, width } = plot.getBoundingClientRect();
    const position = Math.floor(((event.clientX - left) / width) * bars.length);
    return bars[Math.max(0, Math.min(position, bars.length - 1))];
  };

  plot.addEventListener("pointerdown", (event) => {
    isTouch = event.pointerType === "touch";
  });
  plot.addEventListener("pointermove", (event) => {
    isTouch = event.pointerType === "touch";
    show(barAt(event));
  });
  plot.addEventListener("pointerleave", () => {
    if (!isTouch) {
      show(bars.find((bar) => bar === document.activeElement));
    }
  });

  // The first tap shows a bar, the second one opens its page.
  plot.addEventListener("click", (event) => {
    const bar = event.target.closest(".chart-bar");
    if (isTouch && bar && bar !== tapped) {
      event.preventDefault();
      show(bar);
    }
    tapped = bar;
  });

  // Not of the SVG: a listener for focus would make it a tab stop itself.
  chart.addEventListener("focusin", (event) => show(event.target.closest(".chart-bar")));
  chart.addEventListener("focusout", () => {
    if (!isTouch) {
      show(null);
    }
  });
  plot.addEventListener("keydown", (event) => {
    const from = bars.indexOf(document.activeElement);
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: bars.length - 1 }[event.key];
    if (from < 0 || to === undefined) {
      return;
    }
    event.preventDefault();
    isTouch = false;
    if (bars[to]) {
      bars[from].setAttribute("tabindex", "-1");
      bars[to].setAttribute("tabindex", "0");
      bars[to].focus();
    }
  });
};

for (const chart of document.querySelectorAll(".chart")) {
  setUpChart(chart);
}
