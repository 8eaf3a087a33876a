// The list above the message box: commands, people, places, or choices for an option.

import { byId, make } from "./dom.js";

export class Suggestions {
  constructor() {
    this.list = byId("suggestions");
    this.items = [];
    this.putAway = false; // by hand; it stays so until something else is typed
  }

  get open() {
    return this.items.length > 0;
  }

  // Offer items of {label, about, run} for a field, which keeps the focus; the chosen row stays.
  show(field, items) {
    const chosen = field === this.field ? this.items[this.at]?.label : null;
    const same = field === this.field && JSON.stringify(items) === JSON.stringify(this.items);
    this.field = field;
    this.items = items;
    this.putAway = false;
    if (same) return;
    this.at = Math.max(0, items.findIndex((each) => each.label === chosen));
    this.list.replaceChildren(...items.map((each, at) => this.item(each, at)));
    this.list.hidden = !items.length;
    if (field.getAttribute("role") === "combobox") field.setAttribute("aria-expanded", String(this.open));
    if (this.open) this.move(this.at);
    else field.removeAttribute("aria-activedescendant");
  }

  item(each, at) {
    return make("li", {
      id: `suggestion-${at}`, role: "option", "aria-selected": "false",
      onmousedown: (event) => event.preventDefault(),
      onclick: () => this.pick(at),
    }, make("strong", {}, each.label), each.hint && make("code", {}, each.hint),
    each.about && make("span", {}, each.about), each.by && make("small", {}, each.by));
  }

  hide() {
    if (this.field) this.show(this.field, []);
  }

  move(to) {
    const { children } = this.list;
    children[this.at]?.setAttribute("aria-selected", "false");
    this.at = (to + children.length) % children.length;
    children[this.at].setAttribute("aria-selected", "true");
    children[this.at].scrollIntoView({ block: "nearest" });
    this.field.setAttribute("aria-activedescendant", children[this.at].id);
  }

  pick(at = this.at) {
    const { run } = this.items[at];
    this.hide();
    run();
  }

  // Whether the key was meant for the list.
  key(event) {
    if (!this.open || event.isComposing) return false;
    if (event.key === "ArrowDown") this.move(this.at + 1);
    else if (event.key === "ArrowUp") this.move(this.at - 1);
    else if ((event.key === "Enter" && !event.shiftKey) || (event.key === "Tab" && !event.shiftKey)) this.pick();
    else if (event.key === "Escape") {
      this.hide();
      this.putAway = true;
    } else return false;
    event.preventDefault();
    return true;
  }
}
