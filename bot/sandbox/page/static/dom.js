// Making elements. Whatever people and bots write goes into text nodes, so none of it is markup.

const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) set(element, name, value);
  element.append(...children.flat(Infinity).filter((each) => each || each === 0));
  return element;
}

function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
  else if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, value);
  else element[name] = value;
}

// Icons of our own: strokes on a 24 by 24 grid.
const ICONS = {
  hash: "M9 4 7 20M17 4l-2 16M4.5 9h16M3.5 15h16",
  thread: "M5 5h14v10H9l-4 4z",
  reply: "M9 6 4 11l5 5M4 11h9a7 7 0 0 1 7 7",
  edit: "M4 20l1-5L16 4l4 4L9 19z",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
  forward: "M15 6l5 5-5 5M20 11h-9a7 7 0 0 0-7 7",
  smile: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M8.5 14a4.5 4.5 0 0 0 7 0M9 9.5v.5M15 9.5v.5",
  plus: "M12 5v14M5 12h14",
  send: "M4 12 20 4l-5 16-4-6zM11 14l4-4",
  down: "M12 5v14M6 13l6 6 6-6",
  close: "M6 6l12 12M18 6 6 18",
  menu: "M4 7h16M4 12h16M4 17h16",
  pulse: "M3 12h4l3-8 4 16 3-8h4",
  theme: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  chevron: "M7 10l5 5 5-5",
  eye: "M3 12s3-6 9-6 9 6 9 6-3 6-9 6-9-6-9-6M12 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4",
  person: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8M4 21c0-4 3.5-6 8-6s8 2 8 6",
};

export function icon(name) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("class", "icon");
  drawing.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  drawing.append(path);
  return drawing;
}

export function iconButton(name, label, onclick, more = {}) {
  const properties = { type: "button", className: "icon-button", title: label, "aria-label": label };
  return make("button", { ...properties, ...more, onclick }, icon(name));
}

const SHADES = 8;

export function avatar(account, size = "") {
  const shade = Number(BigInt(account.id) % BigInt(SHADES));
  const letter = [...account.name][0].toUpperCase();
  const classes = `avatar shade-${shade} ${size}`;
  return make("span", { className: classes, "aria-hidden": "true" }, letter);
}

export function announce(text) {
  byId("spoken").append(make("p", {}, text));
  while (byId("spoken").children.length > 5) byId("spoken").firstChild.remove();
}

const keyed = new Map();
const waiting = new Map();
let pressed = null;

// A click is a press and a release on one element; meanwhile it must not be replaced.
addEventListener("pointerdown", (event) => (pressed = event.target), true);
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(released), true);

function released() {
  pressed = null;
  const all = [...waiting.values()];
  waiting.clear();
  for (const run of all) run();
}

// Rebuild a part only when what it shows has changed, so that focus and hover stay.
export function redraw(id, data, build) {
  const wanted = JSON.stringify(data);
  waiting.delete(id);
  if (keyed.get(id) === wanted) return;
  if (pressed && byId(id).contains(pressed)) {
    waiting.set(id, () => redraw(id, data, build));
    return;
  }
  keyed.set(id, wanted);
  const focused = byId(id).contains(document.activeElement) ? document.activeElement.dataset.key : null;
  byId(id).replaceChildren(...build());
  if (focused) byId(id).querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}
