// The slider from a volume to the cheapest plan, with packs where they are cheaper. Without JavaScript, the cards have all prices.
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

const plans = offers.filter((offer) => offer.isPlan);
const packs = offers.filter((offer) => !offer.isPlan);
const unit = Math.min(...packs.map((pack) => pack.credits));

// The cheapest packs for each number of units, each found from those before it.
const cheapestPacks = [{ cents: 0, packs: [] }];
const choosePacks = (credits) => {
  const units = Math.ceil(credits / unit);
  for (let count = cheapestPacks.length; count <= units; count += 1) {
    const choices = packs.map((pack) => {
      const rest = cheapestPacks[Math.max(0, count - Math.floor(pack.credits / unit))];
      return { cents: rest.cents + pack.cents, packs: [pack, ...rest.packs] };
    });
    cheapestPacks.push(cheapest(choices));
  }
  return cheapestPacks[units];
};

const cheapest = (choices) => choices.reduce((best, one) => (one.cents < best.cents ? one : best));

const chooseOffer = (credits) => {
  const possible = packs.length ? plans : plans.filter((plan) => plan.credits >= credits);
  const choices = possible.map((plan) => {
    const missing = Math.max(0, credits - plan.credits);
    const added = missing ? choosePacks(missing) : cheapestPacks[0];
    return { cents: plan.cents + added.cents, offers: [plan, ...added.packs] };
  });
  return choices.length ? cheapest(choices) : null;
};

const describe = (offer) => {
  if (!offer) return "More than our largest plan: write to us.";
  const names = offer.offers.map(({ name }) => name);
  const parts = [...new Set(names)].map((name) => {
    const times = names.filter((other) => other === name).length;
    return times > 1 ? `${times} × ${name}` : name;
  });
  const total = offer.cents ? `${money.format(offer.cents / 100)} a month` : "nothing to pay";
  return `${parts.join(" + ")}: ${total}.`;
};

const show = () => {
  const count = readVolume();
  const addresses = count.toLocaleString("en-US");
  const text = describe(chooseOffer(count));
  document.getElementById("volume-count").textContent = addresses;
  document.getElementById("volume-price").textContent = text;
  // Read aloud while the slider moves.
  volume.setAttribute("aria-valuetext", `${addresses} addresses. ${text}`);
};

slider.hidden = false;
volume.addEventListener("input", show);
show();
