// The request log: drag over the chart to choose a time range, and add new rows and bars while the page is live.
// Without JavaScript there are a form for the range, and Reload.

const MIN_DRAG = 5;
let start = null;
let selection = null;

const end = () => {
  selection?.remove();
  start = selection = null;
};

document.addEventListener("keydown", (event) => event.key === "Escape" && end());

const setUpDrag = (chart) => {
  const plot = chart.querySelector(".chart-bars");
  const bars = [...plot.querySelectorAll("a.chart-bar")];

  const barAt = (event) => {
    const { left, width } = plot.getBoundingClientRect();
    const position = Math.floor(((event.clientX - left) / width) * bars.length);
    return Math.max(0, Math.min(position, bars.length - 1));
  };

  const chosen = (event) => [barAt(start), barAt(event)].sort((a, b) => a - b);

  plot.addEventListener("pointerdown", (event) => {
    if (event.button === 0) {
      start = event;
    }
  });

  plot.addEventListener("pointermove", (event) => {
    if (!start || (!selection && Math.abs(event.clientX - start.clientX) < MIN_DRAG)) {
      return;
    }
    if (!selection) {
      plot.setPointerCapture(event.pointerId);
      selection = document.createElementNS(plot.namespaceURI, "rect");
      selection.classList.add("chart-selection");
      selection.setAttribute("height", "100%");
      plot.append(selection);
    }
    const [first, last] = chosen(event);
    const slot = plot.viewBox.baseVal.width / bars.length;
    selection.setAttribute("x", first * slot);
    selection.setAttribute("width", (last - first + 1) * slot);
  });

  plot.addEventListener("pointerup", (event) => {
    if (selection) {
      const [first, last] = chosen(event).map((position) => new URL(bars[position].getAttribute("href"), location));
      first.searchParams.set("until", last.searchParams.get("until"));
      // The click that follows would open a single bar.
      plot.addEventListener("click", (click) => click.preventDefault(), { capture: true, once: true });
      location.assign(first);
    }
    end();
  });

  plot.addEventListener("pointercancel", end);
  // Otherwise the browser drags the link of a bar.
  plot.addEventListener("dragstart", (event) => event.preventDefault());
};

for (const chart of document.querySelectorAll(".log-chart")) {
  setUpDrag(chart);
}

for (const live of document.querySelectorAll(".log-live")) {
  // A page of a million requests takes 0.1 s.
  const PAUSE = 5000;
  // Screen readers aren't interrupted by each row.
  const ANNOUNCE_AFTER = 10000;
  const MAX_ROWS = 200;
  const status = live.querySelector("[role=status]");
  const toggle = live.querySelector("[role=switch]");
  const rows = document.querySelector(".log tbody");
  let timer = null;
  let unannounced = 0;
  let announced = 0;
  let isChartOld = false;

  const linkOf = (row) => row.querySelector(".log-link").getAttribute("href");
  const timeOf = (row) => Date.parse(row.querySelector("time").dateTime);

  const add = (found) => {
    const known = new Set([...rows.children].map(linkOf));
    const added = found.filter((row) => !known.has(linkOf(row)));
    // From the oldest: each one goes above the first row that isn't newer.
    for (const row of added.reverse()) {
      row.classList.add("log-new");
      const next = [...rows.children].find((other) => timeOf(other) <= timeOf(row));
      rows.insertBefore(row, next ?? null);
    }
    while (rows.children.length > MAX_ROWS) {
      rows.lastElementChild.remove();
    }
    unannounced += added.length;
    isChartOld ||= added.length > 0;
  };

  const announce = () => {
    if (unannounced && Date.now() - announced > ANNOUNCE_AFTER) {
      status.textContent = unannounced === 1 ? "1 new request" : `${unannounced} new requests`;
      unannounced = 0;
      announced = Date.now();
    }
  };

  const redraw = (drawn) => {
    const chart = document.querySelector(".log-chart");
    // Bars don't move under the pointer or the focus.
    if (isChartOld && drawn && chart && !chart.matches(":hover, :focus-within")) {
      drawn.querySelector("details").open = chart.querySelector("details").open;
      chart.replaceWith(drawn);
      setUpChart(drawn);
      setUpDrag(drawn);
      isChartOld = false;
    }
  };

  const stop = (reason) => {
    clearTimeout(timer);
    toggle.checked = false;
    status.textContent = reason;
  };

  const poll = async () => {
    const response = await fetch(location).catch(() => null);
    if (!toggle.checked) {
      return;
    }
    if (response && (response.redirected || (response.status >= 400 && response.status < 500))) {
      stop("Live updates have stopped. Reload this page.");
      return;
    }
    const html = response?.ok ? await response.text() : "";
    const page = new DOMParser().parseFromString(html, "text/html");
    const found = [...page.querySelectorAll(".log tbody tr")];
    if (found.length && !rows) {
      // The page has no table yet.
      location.reload();
      return;
    }
    if (rows) {
      add(found);
      redraw(page.querySelector(".log-chart"));
      announce();
    }
    schedule();
  };

  // A hidden tab doesn't poll.
  const schedule = () => {
    clearTimeout(timer);
    if (toggle.checked && !document.hidden) {
      timer = setTimeout(poll, PAUSE);
    }
  };

  live.hidden = false;
  toggle.addEventListener("change", () => (toggle.checked ? poll() : stop("")));
  document.addEventListener("visibilitychange", schedule);
}
