// A select menu: a button that opens a listbox, for one choice or several, by mouse or keyboard.
// Its options are asked for whenever it opens: those who can be chosen come and go.

import { icon, make } from "./dom.js";

let count = 0;

export class Menu {
  constructor({ label, offered, least, most, disabled = false, labelledBy = null, chosen }) {
    Object.assign(this, { label, offered, least, most, chosen });
    this.options = offered();
    this.values = this.options.filter((each) => each.default).map((each) => each.value);
    this.at = 0;
    const id = this.id = `menu-${(count += 1)}`;
    this.shown = make("span");
    this.button = make("button", {
      type: "button", className: "menu-button", disabled, role: "combobox", "aria-haspopup": "listbox",
      "aria-expanded": "false", "aria-controls": id, "aria-labelledby": labelledBy,
      "aria-label": labelledBy ? null : label,
      onclick: () => (this.open ? this.close() : this.show()),
      onkeydown: (event) => this.key(event),
      onblur: () => this.close(),
    }, this.shown, icon("chevron"));
    this.list = make("ul", { id, role: "listbox", hidden: true, "aria-label": label,
      "aria-multiselectable": String(most > 1) });
    this.element = make("div", { className: "menu" }, this.button, this.list);
    this.fill();
  }

  get open() {
    return !this.list.hidden;
  }

  fill() {
    this.list.replaceChildren(...this.options.map((each, at) => this.item(each, at)));
    this.mark();
  }

  item(each, at) {
    const about = each.description && make("small", {}, each.description);
    return make("li", {
      id: `${this.id}-${at}`, role: "option",
      // The button keeps the focus, and with it the keyboard.
      onmousedown: (event) => event.preventDefault(),
      onclick: () => this.pick(at),
    }, [each.emoji?.name, each.label].filter(Boolean).join(" "), about);
  }

  show() {
    this.options = this.offered();
    this.values = this.values.filter((value) => this.options.some((each) => each.value === value));
    this.fill();
    this.before = this.values.join();
    this.list.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    this.move(Math.max(0, this.options.findIndex((each) => this.values.includes(each.value))));
  }

  close() {
    if (!this.open) return;
    this.list.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
    this.button.removeAttribute("aria-activedescendant");
    const changed = this.values.join() !== this.before;
    if (this.most > 1 && changed && this.values.length >= this.least) this.chosen(this.values);
  }

  key(event) {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (!this.open) {
      if (event.key in steps) this.show();
      else return;
    } else if (event.key in steps) this.move(this.at + steps[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.pick(this.at);
    else if (event.key === "Escape") this.close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  move(to) {
    const items = this.list.children;
    items[this.at]?.classList.remove("active");
    this.at = (to + items.length) % items.length;
    items[this.at].classList.add("active");
    items[this.at].scrollIntoView({ block: "nearest" });
    this.button.setAttribute("aria-activedescendant", items[this.at].id);
  }

  pick(at) {
    const { value } = this.options[at];
    if (this.most === 1) {
      this.values = [value];
      this.before = null;
      this.mark();
      this.close();
      this.chosen(this.values);
      return;
    }
    const had = this.values.includes(value);
    if (!had && this.values.length >= this.most) return;
    this.values = had ? this.values.filter((each) => each !== value) : [...this.values, value];
    this.move(at);
    this.mark();
  }

  mark() {
    this.options.forEach((each, at) => {
      this.list.children[at].setAttribute("aria-selected", String(this.values.includes(each.value)));
    });
    const names = this.options.filter((each) => this.values.includes(each.value)).map((each) => each.label);
    this.shown.textContent = names.join(", ") || this.label;
    this.button.classList.toggle("empty", !names.length);
  }
}
