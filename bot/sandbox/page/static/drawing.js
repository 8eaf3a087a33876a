// Drawing a tree of Discord's Markdown as elements.

import { make } from "./dom.js";
import { parse } from "./markdown.js";
import { relative, spelled, stamped } from "./time.js";

// `names` tells what users, roles and places are called, `go` follows a link to a place.
export function draw(text, context) {
  return parse(text).map((node) => element(node, context));
}

function element(node, context) {
  return DRAWN[node.type](node, context);
}

const inner = (node, context) => node.children.map((each) => element(each, context));
const simple = (tag) => (node, context) => make(tag, {}, inner(node, context));
const mention = (text) => make("span", { className: "mention" }, text);

const DRAWN = {
  text: (node) => document.createTextNode(node.text),
  strong: simple("strong"),
  emphasis: simple("em"),
  underline: simple("u"),
  strike: simple("s"),
  quote: simple("blockquote"),
  subtext: (node, context) => make("small", { className: "subtext" }, inner(node, context)),
  code: (node) => make("code", {}, node.text),
  block: (node) =>
    make("pre", { tabIndex: 0 }, make("code", { "data-language": node.language }, node.text)),
  heading: (node, context) =>
    make("p", { className: `heading level-${node.level}`, role: "heading", "aria-level": node.level + 2 },
      inner(node, context)),
  list: (node, context) => {
    const items = node.items.map((each) => make("li", {}, each.map((one) => element(one, context))));
    return node.ordered ? make("ol", { start: node.start }, items) : make("ul", {}, items);
  },
  spoiler,
  link: (node, context) =>
    make("a", { href: node.url, target: "_blank", rel: "noopener noreferrer" }, inner(node, context)),
  user: (node, context) => mention(`@${context.names.users[node.id] ?? "unknown-user"}`),
  role: (node, context) => mention(`@${(context.names.roles[node.id] ?? "unknown-role").replace(/^@/, "")}`),
  everyone: (node) => mention(`@${node.name}`),
  command: (node) => mention(`/${node.name}`),
  place,
  time: (node) => {
    const moment = new Date(node.at * 1000);
    if (Number.isNaN(moment.getTime())) return document.createTextNode("Invalid Date");
    const properties = { dateTime: moment.toISOString(), title: spelled(moment), className: "stamp" };
    if (node.style === "R") properties["data-relative"] = node.at;
    return make("time", properties, node.style === "R" ? relative(moment) : stamped(moment, node.style));
  },
};

function place(node, context) {
  const name = context.names.places[node.id];
  if (!name) return mention("#unknown");
  const onclick = () => context.go(node.id);
  return make("button", { type: "button", className: "mention", onclick }, `#${name}`);
}

function spoiler(node, context) {
  const hidden = make("span", { className: "hidden", "aria-hidden": "true" }, inner(node, context));
  const properties = { className: "spoiler", role: "button", tabIndex: 0 };
  const covered = make("span", { ...properties, "aria-label": "Spoiler" }, hidden);
  const reveal = (event) => {
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    if (covered.classList.contains("shown")) return;
    event.preventDefault();
    covered.classList.add("shown");
    hidden.removeAttribute("aria-hidden");
    for (const name of ["role", "aria-label", "tabindex"]) covered.removeAttribute(name);
  };
  covered.addEventListener("click", reveal);
  covered.addEventListener("keydown", reveal);
  return covered;
}
