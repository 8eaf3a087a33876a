// The list of messages: patched message by message, and quiet while somebody reads further up.

import { announce, byId, make } from "./dom.js";
import { MessageView } from "./message.js";
import { dayOf } from "./time.js";

const NEAR = 80; // pixels from the end that still count as being there
const TOGETHER = 7 * 60 * 1000; // how long messages of one author stay one group
const HAND = 1000; // milliseconds in which a scroll belongs to the hand that touched the list
const SETTLED = 1500; // milliseconds without an edit after which an answer is read out

const later = (one, other) => one.length > other.length || (one.length === other.length && one > other);

export class Messages {
  constructor(context) {
    this.context = context;
    this.views = new Map();
    this.list = byId("messages");
    this.scroller = byId("scroller");
    this.pinned = true;
    this.top = this.height = this.touched = 0;
    this.missed = 0;
    this.saying = new Map();
    this.dismissed = new Set();
    this.scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    for (const hand of ["wheel", "touchmove", "pointerdown", "keydown"]) {
      this.scroller.addEventListener(hand, () => (this.touched = Date.now()), { passive: true });
    }
    // Whatever makes the list grow, a picture that arrives among it, the end stays in sight.
    this.observer = new ResizeObserver(() => this.follow());
    this.observer.observe(this.list);
    this.observer.observe(this.scroller);
    byId("newest").addEventListener("click", () => this.toEnd());
  }

  clear() {
    this.views.clear();
    this.list.replaceChildren();
    this.pinned = true;
    this.counted(0);
  }

  // An answer for one person alone can be put away; nobody else has it.
  dismiss(id) {
    this.dismissed.add(id);
    this.remove(id);
  }

  // Show exactly these messages; after a lost connection most of them are there already.
  all(list) {
    const messages = list.filter((each) => !this.dismissed.has(each.id));
    const wanted = new Set(messages.map((each) => each.id));
    for (const id of this.views.keys()) if (!wanted.has(id)) this.remove(id);
    if (this.views.size) messages.forEach((each) => this.put(each));
    else this.fill(messages);
  }

  fill(messages) {
    const whole = document.createDocumentFragment();
    let before = null;
    for (const message of messages) {
      const view = new MessageView(message, this.context);
      this.views.set(message.id, view);
      join(view, before);
      whole.append(view.element);
      before = view;
    }
    this.list.append(whole);
    this.reachable(before);
  }

  upsert(message) {
    if (this.dismissed.has(message.id)) return;
    this.put(message);
    this.read(message);
  }

  put(message) {
    const view = this.views.get(message.id);
    if (view) view.update(message);
    else this.insert(new MessageView(message, this.context));
  }

  insert(view) {
    const { id } = view.message;
    let before = this.list.lastElementChild;
    while (before?.view && later(before.view.message.id, id)) before = before.previousElementSibling;
    if (before) before.after(view.element);
    else this.list.prepend(view.element);
    this.views.set(id, view);
    join(view, viewBefore(view.element));
    this.joinNext(view.element);
    this.reachable(view);
    if (!this.pinned && view.message.author.id !== this.context.you) this.counted(this.missed + 1);
    if (view.message.author.id === this.context.you) this.toEnd();
  }

  // Names have changed: whatever names somebody or something is drawn again.
  renewed() {
    for (const view of this.views.values()) view.update(view.message);
  }

  remove(id) {
    const view = this.views.get(id);
    if (!view) return;
    const { nextElementSibling: next, previousElementSibling: before } = view.element;
    const held = view.element.contains(document.activeElement);
    view.element.remove();
    this.views.delete(id);
    if (next?.view) join(next.view, viewBefore(next));
    if (held) (next ?? before ?? byId("text")).focus();
    if (view.element.tabIndex === 0) this.reachable(this.list.lastElementChild?.view);
  }

  joinNext(element) {
    const next = element.nextElementSibling;
    if (next?.view) join(next.view, viewBefore(next));
  }

  local(line) {
    this.list.append(line);
  }

  // One message at a time can be reached by Tab; the arrow keys go on from there.
  reachable(view) {
    if (!view || view === this.tabbed) return;
    if (this.tabbed) this.tabbed.element.tabIndex = -1;
    this.tabbed = view;
    view.element.tabIndex = 0;
  }

  scrolled() {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    const atEnd = scrollHeight - scrollTop - clientHeight < NEAR;
    // Growth and late layout move the end too; only who scrolls away wants to stay away.
    const away = scrollTop < this.top && (scrollHeight === this.height || Date.now() - this.touched < HAND);
    if (atEnd || away) this.pinned = atEnd;
    this.top = scrollTop;
    this.height = scrollHeight;
    byId("newest").hidden = this.pinned;
    if (this.pinned) this.counted(0);
  }

  follow() {
    if (this.pinned) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  toEnd() {
    this.pinned = true;
    this.counted(0);
    byId("newest").hidden = true;
    this.follow();
  }

  counted(missed) {
    this.missed = missed;
    const news = missed === 1 ? "1 new message" : `${missed} new messages`;
    byId("newest-text").textContent = missed ? `${news} · jump to newest` : "Jump to newest";
  }

  // Read a message out once it has stopped growing, rather than every word of it.
  read(message) {
    if (message.author.id === this.context.you || message.loading) return;
    clearTimeout(this.saying.get(message.id));
    const say = () => {
      this.saying.delete(message.id);
      const text = this.views.get(message.id)?.parts.content?.textContent;
      if (text) announce(`${message.author.name}: ${text}`);
    };
    this.saying.set(message.id, setTimeout(say, SETTLED));
  }

  show(id) {
    const element = this.views.get(id)?.element;
    if (!element) return;
    this.pinned = false;
    element.scrollIntoView({ block: "center" });
    this.reachable(element.view);
    element.focus({ preventScroll: true });
    element.classList.add("found");
    setTimeout(() => element.classList.remove("found"), 1600);
  }
}

// The message above, past lines that are nobody's message.
function viewBefore(element) {
  let before = element.previousElementSibling;
  while (before && !before.view) before = before.previousElementSibling;
  return before?.view;
}

// Whether a message stands below another without a head of its own, and where a day begins.
function join(view, before) {
  const { message } = view;
  const newDay = before?.day !== view.day;
  if (newDay) view.element.dataset.day = dayOf(new Date(message.at));
  else delete view.element.dataset.day;
  view.setCompact(!newDay && !message.reply && !message.command && continues(message, before.message));
}

function continues(message, before) {
  const soon = new Date(message.at) - new Date(before.at) < TOGETHER;
  const same = message.author.id === before.author.id && message.author.name === before.author.name;
  const plain = !message.system && !before.system && !message.starter && !before.starter;
  return same && soon && plain && Boolean(message.ephemeral) === Boolean(before.ephemeral);
}

export function arrows(event, list) {
  const item = event.target.closest?.("li.message");
  if (!item || event.target !== item) return;
  const moves = {
    ArrowUp: () => item.previousElementSibling, ArrowDown: () => item.nextElementSibling,
    Home: () => list.firstElementChild, End: () => list.lastElementChild,
  };
  const next = moves[event.key]?.();
  if (!next) return;
  event.preventDefault();
  next.focus();
}
