// Buttons and menus below a message, and the layouts that hold them.

import { make } from "./dom.js";
import { draw } from "./drawing.js";
import { Menu } from "./menu.js";
import { outside } from "./parts.js";

const FAILED = "This interaction failed";
const STYLES = { 1: "primary", 2: "secondary", 3: "success", 4: "danger" };
const CONTAINER = 17;
const DRAWN = { 1: row, 2: button, 10: text, 14: () => make("hr") };

export function components(message, context) {
  const trouble = make("p", { className: "trouble", role: "alert", hidden: true });
  const send = sending(message, context, trouble);
  return make("div", { className: "components" }, message.components.map((each) => component(each, context, send)), trouble);
}

// Send what was clicked; the clicked thing shows that it waits, and the trouble if nobody answers.
function sending(message, context, trouble) {
  return async (element, action, body) => {
    element.classList.add("waiting");
    element.setAttribute("aria-busy", "true");
    trouble.hidden = true;
    const answer = await context.acts(action, message, body);
    element.classList.remove("waiting");
    element.removeAttribute("aria-busy");
    trouble.textContent = answer.failed ? FAILED : (answer.error ?? "");
    trouble.hidden = !trouble.textContent;
  };
}

function component(each, context, send) {
  const drawn = DRAWN[each.type];
  if (drawn) return drawn(each, context, send);
  return isMenu(each) ? menu(each, context, send) : layout(each, context, send);
}

function layout(each, context, send) {
  const inner = [...(each.components ?? []), each.accessory].filter(Boolean);
  const name = each.type === CONTAINER ? "container" : "section";
  return make("div", { className: name }, inner.map((one) => component(one, context, send)));
}

function row(each, context, send) {
  return make("div", { className: "row" }, each.components.map((one) => component(one, context, send)));
}

function text(each, context) {
  return make("div", { className: "content" }, draw(each.content, context));
}

function button(each, context, send) {
  const name = [each.emoji?.name, each.label].filter(Boolean).join(" ");
  if (each.url) {
    const link = outside(each.url, `${name} ↗`);
    link.className = "button secondary";
    return link;
  }
  const classes = `button ${STYLES[each.style] ?? "secondary"}`;
  const properties = { type: "button", className: classes, disabled: each.disabled };
  const drawn = make("button", properties, name);
  drawn.addEventListener("click", () => {
    if (!drawn.classList.contains("waiting")) send(drawn, "clicks", { button: each.custom_id });
  });
  return drawn;
}

const KINDS = { 5: ["users"], 6: ["roles"], 7: ["users", "roles"], 8: ["places"] };

export const isMenu = (each) => each.type === 3 || each.type in KINDS;

// The client itself fills the menus that choose people, roles or places.
export function optionsOf(each, names) {
  if (each.type === 3) return each.options;
  const sign = { users: "@", roles: "@", places: "#" };
  return KINDS[each.type].flatMap((kind) =>
    Object.entries(names[kind]).map(([value, name]) => ({ value, label: sign[kind] + name.replace(/^@/, "") })));
}

function menu(each, context, send) {
  const drawn = new Menu({
    label: each.placeholder || "Make a selection",
    offered: () => optionsOf(each, context.names),
    least: each.min_values ?? 1,
    most: each.max_values ?? 1,
    disabled: each.disabled,
    chosen: (values) => send(drawn.element, "selects", { menu: each.custom_id, values }),
  });
  return drawn.element;
}
