// Discord's Markdown, read into a small tree; nothing here knows of elements.
//
// What Discord does not render, tables and images among it, stays the text it is.

import { DEEPEST, FENCE, inline } from "./inline.js";

const HEADING = /^(#{1,3}) +(\S.*)$/;
const SUBTEXT = /^-# +(\S.*)$/;
const ITEM = /^( *)([-*]|\d{1,9}\.) +(\S.*)$/;
const QUOTE = /^> ?/;

// Most messages are plain, and need no more than a look.
const MARKED = /[\\`*_~|<>[@#]|^ *[-\d]|:\/\//m;

export function parse(given) {
  const text = given.replace(/\r\n?/g, "\n");
  if (!MARKED.test(text)) return text ? [{ type: "text", text }] : [];
  return blocks(text, { quoted: false, depth: 0 });
}

function blocks(source, inside) {
  const found = [];
  let plain = "";
  const flush = (beforeBlock) => {
    const text = beforeBlock && plain.endsWith("\n") ? plain.slice(0, -1) : plain;
    if (text) found.push(...inline(text, inside.depth));
    plain = "";
  };
  let at = 0;
  while (at < source.length) {
    const block = blockAt(source, at, inside);
    if (block) {
      flush(true);
      found.push(block.node);
      at = block.end + 1;
    } else {
      const end = pastFences(source, at);
      plain += source.slice(at, end + 1);
      at = end + 1;
    }
  }
  flush(false);
  return found;
}

function lineEnd(source, at) {
  const end = source.indexOf("\n", at);
  return end < 0 ? source.length : end;
}

// A fence that opens in a line may close many lines below; all of that is one piece of text.
function pastFences(source, at) {
  let end = lineEnd(source, at);
  let open = source.indexOf(FENCE, at);
  while (open >= 0 && open < end) {
    const close = source.indexOf(FENCE, open + 3);
    if (close < 0) break;
    end = Math.max(end, lineEnd(source, close));
    open = source.indexOf(FENCE, close + 3);
  }
  return end;
}

function blockAt(source, at, inside) {
  const end = lineEnd(source, at);
  const line = source.slice(at, end);
  const deeper = { ...inside, depth: inside.depth + 1 };
  if (!inside.quoted && line.startsWith(">>> ")) {
    const children = blocks(source.slice(at + 4), { ...deeper, quoted: true });
    return { node: { type: "quote", children }, end: source.length };
  }
  if (!inside.quoted && line.startsWith("> ")) return quoteAt(source, at, deeper);
  const heading = HEADING.exec(line);
  if (heading) {
    const children = inline(heading[2], inside.depth);
    return { node: { type: "heading", level: heading[1].length, children }, end };
  }
  const small = SUBTEXT.exec(line);
  if (small) return { node: { type: "subtext", children: inline(small[1], inside.depth) }, end };
  return ITEM.test(line) ? listAt(source, at, deeper) : null;
}

function quoteAt(source, at, inside) {
  const lines = [];
  let end = at - 1;
  while (end < source.length) {
    const next = lineEnd(source, end + 1);
    const line = source.slice(end + 1, next);
    if (!QUOTE.test(line) || line.startsWith(">>> ")) break;
    lines.push(line.replace(QUOTE, ""));
    end = next;
  }
  const children = blocks(lines.join("\n"), { ...inside, quoted: true });
  return { node: { type: "quote", children }, end };
}

function listAt(source, at, inside) {
  const items = [];
  let end = at - 1;
  let ordered = null;
  while (end < source.length) {
    const next = lineEnd(source, end + 1);
    const item = ITEM.exec(source.slice(end + 1, next));
    if (!item) break;
    const number = /\d/.test(item[2]) ? Number.parseInt(item[2], 10) : null;
    const top = item[1].length <= (items[0]?.indent ?? 0);
    ordered ??= number !== null;
    if (top && (number !== null) !== ordered) break;
    items.push({ indent: item[1].length, number, text: item[3] });
    end = next;
  }
  return { node: nested(items, inside.depth), end };
}

function nested(items, depth) {
  const first = items[0];
  const list = { type: "list", ordered: first.number !== null, start: first.number, items: [] };
  for (let at = 0; at < items.length; ) {
    let next = at + 1;
    while (next < items.length && items[next].indent > first.indent) next += 1;
    const children = inline(items[at].text, depth);
    const inner = items.slice(at + 1, next);
    if (inner.length && depth < DEEPEST) children.push(nested(inner, depth + 1));
    list.items.push(children);
    at = depth < DEEPEST ? next : at + 1; // what is deeper than that stands at the deepest level
  }
  return list;
}
