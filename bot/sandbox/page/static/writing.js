// What people type, and what Discord makes of it: names become mentions, and back again.

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function table(names) {
  const found = {};
  for (const [id, name] of Object.entries(names.users)) found[`@${name}`] = `<@${id}>`;
  for (const [id, name] of Object.entries(names.roles)) {
    if (!name.startsWith("@")) found[`@${name}`] ??= `<@&${id}>`;
  }
  for (const [id, name] of Object.entries(names.places)) found[`#${name}`] = `<#${id}>`;
  return found;
}

export function sent(text, names) {
  const known = table(names);
  const longest = Object.keys(known).sort((one, other) => other.length - one.length);
  if (!longest.length) return text;
  const pattern = new RegExp("(`+[^`]*`+)|(?<![\\w<])(" + longest.map(escape).join("|") + ")(?!\\w)", "gi");
  const byLower = Object.fromEntries(Object.entries(known).map(([key, value]) => [key.toLowerCase(), value]));
  return text.replace(pattern, (whole, code) => code ?? byLower[whole.toLowerCase()]);
}

export function typed(content, names) {
  return content
    .replace(/<@!?(\d+)>/g, (whole, id) => (names.users[id] ? `@${names.users[id]}` : whole))
    .replace(/<@&(\d+)>/g, (whole, id) => (names.roles[id] ? `@${names.roles[id]}` : whole))
    .replace(/<#(\d+)>/g, (whole, id) => (names.places[id] ? `#${names.places[id]}` : whole));
}

export const length = (text) => [...text].length;

// The word under the cursor that names a command, a person or a place, if it is one.
export function wordAt(text, cursor) {
  const before = text.slice(0, cursor);
  const command = /^\/([-\w ]*)$/.exec(before);
  if (command) return { sign: "/", word: command[1], from: 0 };
  const named = /(?:^|\s)([@#])([-\w]*)$/.exec(before);
  return named && { sign: named[1], word: named[2], from: cursor - named[2].length - 1 };
}
