// Under the hood: what the bot asks of Discord, and buttons that break things.

import { byId, make } from "./dom.js";
import { act, stream } from "./link.js";

const KEPT = 200;

export class Panel {
  constructor(context) {
    this.context = context;
    this.source = null;
    byId("hood").addEventListener("click", () => this.toggle());
    byId("panel-close").addEventListener("click", () => this.toggle());
  }

  toggle() {
    const open = byId("panel").hidden;
    byId("panel").hidden = !open;
    byId("hood").setAttribute("aria-expanded", String(open));
    if (open) {
      this.source = stream("page/requests", {
        found: () => byId("requests").replaceChildren(), // after a lost connection all come again
        requests: (list) => this.add(list),
      });
      byId("panel-title").focus();
    } else {
      this.source.close();
      byId("hood").focus();
    }
  }

  breakages(list) {
    const buttons = list.map(({ name, label, about }) => make("li", {},
      make("button", { type: "button", className: "button secondary", onclick: (event) => this.break(event.target, name) }, label),
      make("small", {}, about)));
    byId("breakages").replaceChildren(...buttons);
  }

  async break(button, name) {
    button.disabled = true;
    const answer = await act("breaks", { name });
    button.disabled = false;
    byId("broken").textContent = answer.error ?? answer.done;
  }

  add(list) {
    const rows = list.map((each) => row(each, this.context.names)).reverse();
    byId("requests").prepend(...rows);
    while (byId("requests").children.length > KEPT) byId("requests").lastElementChild.remove();
  }
}

function row(each, names) {
  const limits = limited(each.limits);
  return make("tr", { className: each.status >= 400 ? "bad" : "" },
    make("td", {}, make("code", {}, each.method)),
    make("td", { className: "path", title: each.path }, short(each.path, names), limits && make("small", {}, limits)),
    make("td", {}, String(each.status)), make("td", {}, `${each.ms} ms`));
}

// Places by their names; of other ids the last digits tell them apart, and tokens say nothing.
function short(path, names) {
  return path.replace(/^\/api\/v\d+\//, "")
    .replace(/^channels\/(\d+)/, (whole, id) => (names.places[id] ? `#${names.places[id]}` : whole))
    .replace(/\d{15,}/g, (id) => `…${id.slice(-4)}`)
    .replace(/\/[\w-]{20,}(?=\/|$)/, "/…");
}

function limited(limits) {
  const left = limits["X-RateLimit-Remaining"];
  if (limits["Retry-After"]) return `retry after ${limits["Retry-After"]} s`;
  if (left === undefined) return "";
  const seconds = Number(limits["X-RateLimit-Reset-After"]).toFixed(1);
  return `${left} of ${limits["X-RateLimit-Limit"]} left for ${seconds} s`;
}
