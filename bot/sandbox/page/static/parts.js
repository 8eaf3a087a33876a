// Files, embeds, stickers and the poll of a message.

import { icon, make } from "./dom.js";
import { draw } from "./drawing.js";

export function files(list) {
  return make("div", { className: "files" }, list.map((each) => (each.image ? image(each) : file(each))));
}

function image(each) {
  const alt = each.description || each.filename;
  return make("a", { className: "image", href: each.url, target: "_blank", rel: "noopener" },
    make("img", { src: each.url, alt, loading: "lazy" }));
}

function file(each) {
  return make("a", { className: "file", href: each.url, download: each.filename },
    icon("file"), make("span", {}, make("strong", {}, each.filename), make("small", {}, sized(each.size))));
}

export function sized(bytes) {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1048576 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1048576).toFixed(1)} MB`;
}

export function embeds(list, context) {
  return make("div", { className: "embeds" }, (list ?? []).map((each) => embed(each, context)));
}

// Pictures of an embed live on other servers; the page loads nothing from there and shows links.
function embed(each, context) {
  const title = each.title && (each.url ? outside(each.url, each.title) : make("strong", {}, draw(each.title, context)));
  const box = make("article", { className: "embed" },
    each.author && make("small", { className: "by" }, each.author.name),
    title && make("div", { className: "title" }, title),
    each.description && make("div", { className: "content" }, draw(each.description, context)),
    each.fields?.length && make("dl", {}, each.fields.map((one) => field(one, context))),
    [each.image, each.thumbnail].filter(Boolean).map((one) => outside(one.url, "Picture")),
    each.footer && make("small", {}, each.footer.text));
  const colour = each.color ?? each.colour;
  if (Number.isInteger(colour)) box.style.borderInlineStartColor = `#${colour.toString(16).padStart(6, "0")}`;
  return box;
}

function field(one, context) {
  return make("div", { className: one.inline ? "inline" : "" },
    make("dt", {}, draw(one.name, context)), make("dd", {}, draw(one.value, context)));
}

// Nobody votes here, and a sticker's picture is not there: both are words.
export function poll({ question, answers }) {
  return make("article", { className: "embed" },
    make("div", { className: "title" }, question),
    make("ul", {}, answers.map((each) => make("li", {}, each))));
}

export function stickers(names) {
  return make("div", { className: "files" },
    names.map((each) => make("small", {}, `Sticker: ${each}`)));
}

export function outside(url, text) {
  if (!/^https?:\/\//.test(url)) return make("span", {}, text);
  return make("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text);
}
