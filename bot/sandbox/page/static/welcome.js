// What a first visitor sees: three things to try, and whether anybody clever is behind the answers.

import { byId, iconButton, make, redraw } from "./dom.js";
import { draw } from "./drawing.js";

const TRIED = "sandbox-tried";
const ALL = 3;

export class Welcome {
  constructor(context) {
    this.context = context;
    this.tried = new Set(JSON.parse(sessionStorage.getItem(TRIED) || "[]"));
    this.hidden = this.tried.has("all") || this.tried.size === ALL;
  }

  notice(text) {
    if (!text || byId("notice").children.length || sessionStorage.getItem("sandbox-noticed")) return;
    const close = iconButton("close", "Dismiss", () => {
      byId("notice").hidden = true;
      sessionStorage.setItem("sandbox-noticed", "yes");
    });
    byId("notice").append(make("p", {}, draw(text, this.context)), close);
    byId("notice").hidden = false;
  }

  suggestions(state) {
    const bot = state.bots[0];
    if (this.hidden || !bot) return;
    const channels = state.guilds.flatMap((each) => each.channels);
    const target = channels.find((each) => each.name.includes("announce")) ?? channels[channels.length - 1];
    const you = state.people.find((each) => each.id === state.you);
    const me = you.name[0].toUpperCase() + you.name.slice(1);
    const list = [
      ["introduce", "Introduce yourself", `my name is ${me}`],
      target && ["announce", "Ask it to announce something", `announce Dinner is ready in #${target.name}`],
      state.breakages.some((each) => each.name === "restart")
        && ["restart", "Restart it and ask your name", "what's my name?"],
    ].filter(Boolean);
    const buttons = () => list.map(([name, label, says]) => make("button", {
      type: "button", "data-key": name, className: this.tried.has(name) ? "suggestion done" : "suggestion",
      onclick: () => this.tries(name, bot, says),
    }, make("strong", {}, label), make("small", {}, `“${says}”`)));
    const all = iconButton("close", "Hide the suggestions", () => this.done("all"));
    redraw("welcome", [list, [...this.tried]], () => [make("p", {}, "Try this"), make("div", {}, buttons()), all]);
    byId("welcome").hidden = false;
  }

  async tries(name, bot, says) {
    this.done(name);
    await this.context.suggested(name, bot, says);
  }

  done(name) {
    this.tried.add(name);
    sessionStorage.setItem(TRIED, JSON.stringify([...this.tried]));
    this.hidden = this.tried.has("all") || this.tried.size === ALL;
    byId("welcome").hidden = this.hidden;
  }
}
