// Servers, channels, threads and DMs; and who one is.

import { avatar, byId, icon, make, redraw } from "./dom.js";

export class Sidebar {
  constructor({ go, become, message }) {
    Object.assign(this, { go, become, message });
    this.seen = new Map();
    byId("who").addEventListener("click", () => this.togglePeople());
    byId("people").addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.togglePeople(false);
    });
    document.addEventListener("click", (event) => {
      if (!event.target.closest("#who, #people")) this.togglePeople(false);
    });
  }

  // Whether a place has news: something came since one looked, or since the page was opened.
  unread(place, here) {
    const latest = place.latest ?? "";
    if (place.id === here || !this.seen.has(place.id)) this.seen.set(place.id, latest);
    return this.seen.get(place.id) !== latest;
  }

  show(state, here) {
    const link = (place, name, mark) => this.link(place, name, mark, here);
    const marks = [state.guilds, state.directs].flat(2).map((each) => this.marks(each, here));
    redraw("places", [state.guilds, state.directs, state.bots, here, marks], () => [
      ...state.guilds.map((guild) => make("section", {}, make("h2", {}, guild.name),
        make("ul", {}, guild.channels.map((each) => make("li", {}, link(each, each.name, icon("hash")),
          this.threads(each, here, link)))))),
      make("section", {}, make("h2", {}, "Direct messages"),
        make("ul", {}, state.bots.map((bot) => make("li", {}, this.direct(bot, state, here))))),
    ]);
    this.showPeople(state);
  }

  marks(each, here) {
    const places = each.channels ? each.channels.flatMap((one) => [one, ...one.threads]) : [each];
    return places.map((one) => this.unread(one, here));
  }

  threads(channel, here, link) {
    const open = channel.threads.filter((each) => !each.archived || each.id === here);
    return open.length > 0 && make("ul", { className: "threads" },
      open.map((each) => make("li", {}, link(each, each.name, icon("thread")))));
  }

  link(place, name, mark, here) {
    const unread = this.unread(place, here);
    return make("button", {
      type: "button", className: unread ? "place unread" : "place", "data-key": place.id,
      "aria-current": place.id === here ? "page" : null, onclick: () => this.go(place.id),
    }, mark, make("span", {}, name), unread && make("span", { className: "quiet" }, " (unread)"));
  }

  direct(bot, state, here) {
    const place = state.directs.find((each) => each.bot === bot.id);
    const presence = make("span", { className: bot.online ? "presence on" : "presence" },
      make("span", { className: "quiet" }, bot.online ? "online" : "offline"));
    const mark = make("span", { className: "face" }, avatar(bot, "small"), presence);
    if (place) return this.link(place, bot.name, mark, here);
    const onclick = () => this.message(bot);
    return make("button", { type: "button", className: "place", "data-key": bot.id, onclick }, mark, make("span", {}, bot.name));
  }

  showPeople(state) {
    const you = state.people.find((each) => each.id === state.you);
    redraw("who", you, () => [avatar(you, "small"),
      make("span", { className: "name" }, make("strong", {}, you.name), make("small", {}, you.about)), icon("chevron")]);
    byId("who").setAttribute("aria-label", `You are ${you.name}, ${you.about}. Be somebody else`);
    redraw("people", [state.people, state.you], () => [make("p", {}, "Who do you want to be?"),
      ...state.people.map((each) => make("button", {
        type: "button", role: "menuitemradio", "aria-checked": String(each.id === state.you), "data-key": each.id,
        onclick: () => {
          this.togglePeople(false);
          this.become(each.id);
        },
      }, avatar(each, "small"), make("span", { className: "name" }, make("strong", {}, each.name), make("small", {}, each.about))))]);
  }

  togglePeople(open = byId("people").hidden) {
    if (byId("people").hidden === !open) return;
    byId("people").hidden = !open;
    byId("who").setAttribute("aria-expanded", String(open));
    if (open) byId("people").querySelector("[aria-checked=true]")?.focus();
    else byId("who").focus();
  }
}
