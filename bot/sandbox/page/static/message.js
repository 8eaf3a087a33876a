// One message. Its parts are redrawn one by one, only where they differ, so that a growing answer
// leaves its buttons, and whoever has one of them focused, alone.

import { avatar, icon, iconButton, make } from "./dom.js";
import { draw } from "./drawing.js";
import { components } from "./components.js";
import { embeds, files, poll, stickers } from "./parts.js";
import { clockOf, spelled } from "./time.js";

const SYSTEM = {
  MEMBER_ADDED: (each) => `${each.author.name} added ${each.mentioned ?? "someone"} to the thread.`,
  NAME_CHANGED: (each) => `${each.author.name} changed the thread's name: ${each.content}`,
  PINNED: (each) => `${each.author.name} pinned a message to this channel.`,
  THREAD_CREATED: (each) => `${each.author.name} started a thread: ${each.content}`,
};

// Every part: its name, what of the message it shows, and how it is drawn.
const PARTS = [
  ["reply", (each) => each.reply ?? each.command, reply],
  ["head", (each) => each.system ? null : [each.author, each.at], head],
  ["content", (each) => [each.content, each.edited, each.loading, each.system, each.starter], content],
  ["forwarded", (each) => each.forwarded, forwarded],
  ["embeds", (each) => each.embeds, (each, context) => embeds(each.embeds, context)],
  ["poll", (each) => each.poll, (each) => poll(each.poll)],
  ["stickers", (each) => each.stickers, (each) => stickers(each.stickers)],
  ["files", (each) => each.files, (each) => files(each.files)],
  ["components", (each) => each.components, components],
  ["reactions", (each) => each.reactions, reactions],
  ["thread", (each) => each.thread, thread],
  ["private", (each) => each.ephemeral, onlyYou],
];

export class MessageView {
  constructor(message, context) {
    this.context = context;
    this.day = new Date(message.at).toDateString();
    this.parts = {};
    this.drawn = {};
    this.element = make("li", { id: `message-${message.id}`, tabIndex: -1 });
    this.element.view = this;
    this.update(message);
  }

  update(message) {
    this.message = message;
    message.system = message.kind in SYSTEM ? SYSTEM[message.kind](message) : null;
    this.element.className = this.classes();
    let before = null;
    for (let at = PARTS.length - 1; at >= 0; at -= 1) before = this.redraw(PARTS[at], before);
  }

  classes() {
    const { message } = this;
    const names = ["message"];
    for (const each of ["ephemeral", "pings", "system"]) if (message[each]) names.push(each);
    if (this.compact) names.push("compact");
    if (this.editing) names.push("editing");
    return names.join(" ");
  }

  // Draw a part in front of the next one if it is there and differs; return the first of the two.
  redraw([name, shown, drawing], next) {
    const data = shown(this.message);
    const wanted = data ? this.shown(data) : "";
    const old = this.parts[name] ?? null;
    if (wanted === (this.drawn[name] ?? "")) return old ?? next;
    this.drawn[name] = wanted;
    const fresh = wanted ? drawing(this.message, this.context) : null;
    this.parts[name] = fresh;
    if (old) old.remove();
    if (fresh) this.element.insertBefore(fresh, next);
    return fresh ?? next;
  }

  // What a part shows, with the names of whom and what it mentions.
  shown(data) {
    const text = JSON.stringify(data);
    const { users, roles, places } = this.context.names;
    const names = [...text.matchAll(/<(@&|@!?|#)(\d+)>/g)]
      .map(([, sign, id]) => (sign === "#" ? places : sign === "@&" ? roles : users)[id]);
    return JSON.stringify([text, ...names]);
  }

  // A message that follows another of the same author closely needs no head of its own.
  setCompact(compact) {
    if (compact === this.compact) return;
    this.compact = compact;
    this.element.className = this.classes();
  }

  setEditing(editor) {
    this.editing?.remove();
    this.editing = editor;
    this.element.className = this.classes();
    if (editor) this.element.append(editor);
  }
}

function reply(message, context) {
  if (message.command) {
    const text = [make("strong", {}, message.command.by), " used ", make("span", { className: "mention" }, `/${message.command.name}`)];
    return make("div", { className: "reply" }, text);
  }
  const { gone, id, author, text } = message.reply;
  if (gone) return make("div", { className: "reply" }, "Original message was deleted");
  const onclick = () => context.show(id);
  const label = `Reply to ${author.name}: ${text}`;
  return make("button", { type: "button", className: "reply", onclick, "aria-label": label },
    make("strong", {}, author.name), make("span", {}, draw(text.split("\n")[0], context)));
}

function head(message) {
  const moment = new Date(message.at);
  const tag = message.author.bot ? make("span", { className: "tag" }, "App") : null;
  const properties = { dateTime: message.at, title: spelled(moment), className: "at" };
  return make("div", { className: "head" }, avatar(message.author),
    make("strong", { className: `author shade-${shadeOf(message.author)}` }, message.author.name), tag,
    make("time", properties, clockOf(moment)));
}

const shadeOf = (account) => Number(BigInt(account.id) % 8n);

function content(message, context) {
  if (message.system) return systemLine(message, context);
  if (message.starter) return starter(message.starter, context);
  if (message.loading) return make("div", { className: "content thinking" }, dots(), `${message.author.name} is thinking…`);
  if (!message.content && !message.edited) return make("div", { className: "content", hidden: true });
  const edited = message.edited ? make("small", { className: "edited" }, " (edited)") : null;
  return make("div", { className: "content" }, draw(message.content, context), edited);
}

function systemLine(message, context) {
  const seen = message.kind === "THREAD_CREATED" ? "thread" : "person";
  return make("div", { className: "content" }, icon(seen), " ", message.system,
    make("time", { className: "at", dateTime: message.at }, clockOf(new Date(message.at))));
}

function starter(message, context) {
  return make("div", { className: "content starter" }, make("strong", {}, message.author.name), " ",
    draw(message.content ?? "", context), files(message.files ?? []));
}

export function dots() {
  return make("span", { className: "dots", "aria-hidden": "true" }, make("i"), make("i"), make("i"));
}

function forwarded({ forwarded: each }, context) {
  const origin = each.origin ? `#${each.origin} · ` : "";
  return make("div", { className: "forwarded" },
    make("small", {}, icon("forward"), "Forwarded"),
    make("div", { className: "content" }, draw(each.content, context)),
    embeds(each.embeds, context), stickers(each.stickers ?? []), files(each.files),
    make("small", {}, origin + spelled(new Date(each.at))));
}

function reactions(message, context) {
  const chips = message.reactions.map(({ emoji, count, me }) => {
    const onclick = () => context.does("reacts", message, { emoji });
    const label = `${emoji}, ${count} ${count === 1 ? "reaction" : "reactions"}`;
    return make("button", { type: "button", onclick, "aria-pressed": String(Boolean(me)), "aria-label": label },
      `${emoji} `, make("span", {}, String(count)));
  });
  return make("div", { className: "reactions" }, chips);
}

function thread(message, context) {
  const { id, name, count } = message.thread;
  const said = count === 1 ? "1 message" : `${count} messages`;
  return make("button", { type: "button", className: "thread-card", onclick: () => context.go(id) },
    icon("thread"), make("span", {}, make("strong", {}, name), make("small", {}, said)),
    make("span", { className: "see" }, "See thread ›"));
}

function onlyYou(message, context) {
  return make("div", { className: "only-you" }, icon("eye"), "Only you can see this · ",
    make("button", { type: "button", onclick: () => context.dismiss(message) }, "Dismiss message"));
}

// What stands in the list only here, on this page: what became of a command.
export function localLine(text, { failed = false } = {}) {
  const line = make("li", { className: `message local ephemeral${failed ? " failed" : ""}`, tabIndex: -1 },
    make("div", { className: "content" }, failed ? null : dots(), text));
  const dismiss = iconButton("close", "Dismiss", () => line.remove());
  if (failed) line.append(dismiss);
  return line;
}
