// Discord's Markdown, read into a small tree; nothing here knows of elements.
//
// What Discord does not render, tables and images among it, stays the text it is.

const HEADING = /^(#{1,3}) +(\S.*)$/;
const SUBTEXT = /^-# +(\S.*)$/;
const ITEM = /^( *)([-*]|\d{1,9}\.) +(\S.*)$/;
const QUOTE = /^> ?/;
const FENCE = "```";
const FENCED = /^```(?:([\w+\-.#]+)\n)?\n*([^\n][\s\S]*?)\n*```/;
const DEEPEST = 8;

// Most messages are plain, and need no more than a look.
const MARKED = /[\\`*_~|<>[@#]|^ *[-\d]|:\/\//m;

export function parse(text) {
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
    if (next > at + 1 && depth < DEEPEST) children.push(nested(items.slice(at + 1, next), depth + 1));
    list.items.push(children);
    at = next;
  }
  return list;
}

export function inline(text, depth = 0) {
  const found = [];
  let plain = "";
  for (let at = 0; at < text.length; ) {
    const match = depth < DEEPEST && RULES[text[at]]?.(text, at, depth);
    if (!match) {
      plain += text[at];
      at += 1;
      continue;
    }
    // A block stands on lines of its own, so the line breaks around it are not shown as well.
    const isBlock = match.node.type === "block";
    if (isBlock && plain.endsWith("\n")) plain = plain.slice(0, -1);
    if (plain) found.push({ type: "text", text: plain });
    plain = "";
    found.push(match.node);
    at = isBlock && text[match.end] === "\n" ? match.end + 1 : match.end;
  }
  if (plain) found.push({ type: "text", text: plain });
  return joined(found);
}

function joined(nodes) {
  const result = [];
  for (const node of nodes) {
    const last = result[result.length - 1];
    if (node.type === "text" && last?.type === "text") last.text += node.text;
    else result.push(node.type === "text" ? { ...node } : node);
  }
  return result;
}

const isWord = (letter) => letter !== undefined && /\w/.test(letter);

function wrapped(type, mark) {
  return (text, at, depth) => {
    for (let end = at + mark.length + 1; end < text.length; end += 1) {
      if (text[end - 1] === "\\" && end - 1 > at) continue;
      if (text.startsWith(mark, end) && text[end + mark.length] !== mark[0]) {
        const children = inline(text.slice(at + mark.length, end), depth + 1);
        return { node: { type, children }, end: end + mark.length };
      }
    }
    return null;
  };
}

const strong = wrapped("strong", "**");
const underline = wrapped("underline", "__");
const strike = wrapped("strike", "~~");
const spoiler = wrapped("spoiler", "||");

function emphasis(text, at, depth) {
  const mark = text[at];
  if (/\s/.test(text[at + 1] ?? " ")) return null;
  if (mark === "_" && isWord(text[at - 1])) return null;
  for (let end = at + 1; end < text.length; end += 1) {
    if (text[end] === "\\" || text.startsWith(mark + mark, end)) {
      end += 1;
    } else if (text[end] === mark && end > at + 1 && closes(text, end, mark)) {
      const children = inline(text.slice(at + 1, end), depth + 1);
      return { node: { type: "emphasis", children }, end: end + 1 };
    }
  }
  return null;
}

function closes(text, end, mark) {
  return mark === "_" ? !isWord(text[end + 1]) : !/\s/.test(text[end - 1]);
}

function code(text, at) {
  const fenced = text.startsWith(FENCE, at) && FENCED.exec(text.slice(at));
  if (fenced) {
    const node = { type: "block", language: fenced[1] ?? "", text: fenced[2] };
    return { node, end: at + fenced[0].length };
  }
  const ticks = /^`+/.exec(text.slice(at))[0];
  for (let end = text.indexOf(ticks, at + ticks.length); end > 0; ) {
    const run = /^`+/.exec(text.slice(end))[0].length;
    if (run === ticks.length) {
      const inner = text.slice(at + run, end);
      const trimmed = /^ .*[^ ].* $|^ `|` $/.test(inner) ? inner.trim() : inner;
      return { node: { type: "code", text: trimmed }, end: end + run };
    }
    end = text.indexOf(ticks, end + run);
  }
  return null;
}

function escaped(text, at) {
  const next = text[at + 1];
  const special = next !== undefined && /[!-/:-@[-`{-~]/.test(next);
  return special ? { node: { type: "text", text: next }, end: at + 2 } : null;
}

const ANGLED = [
  [/^<@!?(\d+)>/, (found) => ({ type: "user", id: found[1] })],
  [/^<@&(\d+)>/, (found) => ({ type: "role", id: found[1] })],
  [/^<#(\d+)>/, (found) => ({ type: "place", id: found[1] })],
  [/^<\/([-\w]+(?: [-\w]+)*):\d+>/, (found) => ({ type: "command", name: found[1] })],
  [/^<t:(-?\d{1,13})(?::([tTdDfFR]))?>/, (found) => stamp(found[1], found[2])],
  [/^<a?:(\w+):\d+>/, (found) => ({ type: "text", text: `:${found[1]}:` })],
  [/^<(https?:\/\/[^\s<>]+)>/, (found) => link(found[1], [{ type: "text", text: found[1] }])],
];

const stamp = (at, style) => ({ type: "time", at: Number(at), style: style ?? "f" });
const link = (url, children) => ({ type: "link", url, children });

function angled(text, at) {
  const rest = text.slice(at);
  for (const [pattern, build] of ANGLED) {
    const found = pattern.exec(rest);
    if (found) return { node: build(found), end: at + found[0].length };
  }
  return null;
}

const TARGET = /^\(\s*<?(https?:\/\/(?:[^\s()<>]|\([^\s()<>]*\))+)>?(?:\s+(?:"[^"]*"|'[^']*'))?\s*\)/;

function masked(text, at, depth) {
  const close = closingBracket(text, at);
  const target = close > at + 1 && TARGET.exec(text.slice(close + 1));
  if (!target) return null;
  const label = text.slice(at + 1, close);
  // A label that looks like another address is shown as it is, so that nobody is led astray.
  if (label.includes("://")) return null;
  const node = link(target[1], inline(label, depth + 1));
  return { node, end: close + 1 + target[0].length };
}

function closingBracket(text, at) {
  for (let end = at, depth = 0; end < text.length; end += 1) {
    if (text[end] === "\\") end += 1;
    else if (text[end] === "[") depth += 1;
    else if (text[end] === "]" && --depth === 0) return end;
  }
  return -1;
}

const BARE = /^https?:\/\/[^\s<>]*[^\s<>.,:;"'\])*_~|]/;

function bare(text, at) {
  const found = !isWord(text[at - 1]) && BARE.exec(text.slice(at, at + 2000));
  if (!found) return null;
  let url = found[0];
  const rest = text.slice(at + url.length);
  if (rest.startsWith(")") && url.includes("(") && !url.includes(")")) url += ")";
  return { node: link(url, [{ type: "text", text: url }]), end: at + url.length };
}

function everyone(text, at) {
  const found = /^@(everyone|here)/.exec(text.slice(at, at + 9));
  return found && { node: { type: "everyone", name: found[1] }, end: at + found[0].length };
}

const double = (rule, mark) => (text, at, depth) =>
  text.startsWith(mark, at) ? rule(text, at, depth) : null;
const either = (first, second) => (text, at, depth) =>
  first(text, at, depth) ?? second(text, at, depth);

const RULES = {
  "\\": escaped,
  "`": code,
  "*": either(double(strong, "**"), emphasis),
  _: either(double(underline, "__"), emphasis),
  "~": double(strike, "~~"),
  "|": double(spoiler, "||"),
  "<": angled,
  "[": masked,
  h: bare,
  "@": everyone,
};
