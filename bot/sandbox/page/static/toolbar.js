// What can be done to a message: one toolbar that moves to the message it is for.

import { byId, iconButton, make } from "./dom.js";

const EMOJI = ["👍", "👎", "❤️", "😂", "🎉", "🤔", "👀", "🙏", "✅", "❌", "🔥", "☕"];

export class Toolbar {
  constructor(context, actions) {
    this.context = context;
    this.actions = actions;
    this.element = make("div", { className: "toolbar", role: "toolbar", "aria-label": "Message actions" });
    const list = byId("messages");
    list.addEventListener("pointerover", (event) => this.over(event));
    list.addEventListener("focusin", (event) => this.over(event));
    list.addEventListener("pointerleave", () => this.leave());
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  over(event) {
    const view = event.target.closest("li.message")?.view;
    if (!view || this.element.contains(event.target) || this.isPicking) return;
    if (view === this.view && this.element.isConnected) return;
    this.view = view;
    this.picking = false;
    this.fill(view.message);
    if (this.element.children.length) view.element.append(this.element);
    else this.element.remove();
  }

  // The message may be gone, and the choice with it.
  get isPicking() {
    return this.picking && this.element.isConnected;
  }

  leave() {
    if (!this.element.parentElement?.contains(document.activeElement) && !this.isPicking) this.element.remove();
  }

  fill(message) {
    const may = this.context.may;
    const own = message.author.id === this.context.you;
    const said = !message.system && !message.starter;
    const offered = [
      ["smile", "Add reaction", said && may.react && !message.ephemeral, () => this.pick(message)],
      ["reply", "Reply", said && may.send && !message.ephemeral, () => this.actions.reply(message)],
      ["edit", "Edit", said && own, () => this.actions.edit(this.view)],
      ["forward", "Forward", said && !message.ephemeral, () => this.actions.forward(message)],
      ["thread", "Create thread", said && may.thread && !message.thread && this.context.isChannel && !message.ephemeral,
        () => this.actions.thread(message)],
      ["trash", "Delete", (own || (may.manage && this.context.isChannel)) && !message.ephemeral,
        () => this.actions.remove(message)],
    ];
    const shown = offered.filter((each) => each[2]);
    this.element.replaceChildren(...shown.map(([name, label, , run]) => iconButton(name, label, run)));
  }

  pick(message) {
    this.picking = true;
    const choose = (emoji) => {
      this.picking = false;
      this.fill(message);
      this.element.querySelector("button")?.focus();
      if (emoji) this.context.does("reacts", message, { emoji });
    };
    const choices = EMOJI.map((emoji) =>
      make("button", { type: "button", className: "emoji", "aria-label": `React with ${emoji}`, onclick: () => choose(emoji) }, emoji));
    this.element.replaceChildren(...choices, iconButton("close", "Close", () => choose(null)));
    choices[0].focus();
  }

  key(event) {
    const buttons = [...this.element.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") {
      this.picking = false;
      this.view.element.focus();
    } else if (step) buttons[(at + step + buttons.length) % buttons.length].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
