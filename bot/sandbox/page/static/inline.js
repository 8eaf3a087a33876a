// What stands in a line of Discord's Markdown: emphasis, code, links, mentions, times.

export const FENCE = "```";
export const DEEPEST = 8;
const FENCED = /^```(?:([\w+\-.#]+)\n)?\n*([^\n][\s\S]*?)\n*```/;

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
  if (text.indexOf("](", at) < 0) return null;
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
