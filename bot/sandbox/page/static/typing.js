// Who is typing; a sign that nobody renews goes after ten seconds.

import { byId, make } from "./dom.js";
import { dots } from "./message.js";

const SHOWN = 10000;

export class Typing {
  show(list) {
    clearTimeout(this.timer);
    this.list = list;
    this.draw();
  }

  draw() {
    const ends = this.list.map((each) => new Date(each.at).getTime() + SHOWN - Date.now());
    const names = this.list.filter((_, at) => ends[at] > 0).map((each) => each.name);
    const text = names.length > 3 ? "Several people are typing…"
      : `${names.join(" and ")} ${names.length === 1 ? "is" : "are"} typing…`;
    byId("typing").replaceChildren(...(names.length ? [dots(), make("span", {}, text)] : []));
    const next = Math.min(...ends.filter((each) => each > 0));
    if (Number.isFinite(next)) this.timer = setTimeout(() => this.draw(), next + 50);
  }
}
