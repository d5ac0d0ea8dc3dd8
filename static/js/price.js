// The slider from a volume to the cheapest offer. Without JavaScript, the cards have all prices.
const slider = document.querySelector(".landing-slider");
const volume = document.getElementById("volume");
const offers = [...document.querySelectorAll(".offers [data-credits]")].map(({ dataset }) => ({
  name: dataset.name,
  isPlan: dataset.kind === "plan",
  credits: Number(dataset.credits),
  cents: Number(dataset.cents),
}));
const money = new Intl.NumberFormat("en-US", {
  style: "currency",
  currency: slider.dataset.currency,
  trailingZeroDisplay: "stripIfInteger",
});

// 100 to 1,000,000, in round steps.
const readVolume = () => {
  const exact = 10 ** (2 + (4 * Number(volume.value)) / 100);
  const step = 10 ** Math.floor(Math.log10(exact)) / 2;
  return Math.round(exact / step) * step;
};

const price = (offer, count) => {
  const times = Math.ceil(count / offer.credits);
  return offer.isPlan && times > 1 ? null : { ...offer, times, total: times * offer.cents };
};

const show = () => {
  const count = readVolume();
  const possible = offers.map((offer) => price(offer, count)).filter(Boolean);
  // For the same price, the one with more credits.
  const best = possible.sort(
    (one, other) => one.total - other.total || other.credits * other.times - one.credits * one.times,
  )[0];
  const name = best.isPlan ? best.name : `${best.times > 1 ? `${best.times} × ` : ""}${best.name}`;
  const addresses = count.toLocaleString("en-US");
  document.getElementById("volume-count").textContent = addresses;
  const unit = best.isPlan ? "per month" : "paid once";
  const text = best.total
    ? `${name}: ${money.format(best.total / 100)} ${unit}.`
    : `${name}: nothing to pay.`;
  document.getElementById("volume-price").textContent = text;
  // Read aloud while the slider moves.
  volume.setAttribute("aria-valuetext", `${addresses} addresses. ${text}`);
};

slider.hidden = false;
volume.addEventListener("input", show);
show();
