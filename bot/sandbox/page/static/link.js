// Talking to the sandbox: one stream of news, and requests that write, which take the token.

const KEY = "sandbox-token";
const TYPING_PAUSE = 8000;

const given = new URLSearchParams(location.search).get("token");
if (given) {
  sessionStorage.setItem(KEY, given);
  history.replaceState(null, "", location.pathname + location.hash);
}

export const here = {
  token: sessionStorage.getItem(KEY) || "",
  you: sessionStorage.getItem("sandbox-you") || "",
  place: location.hash.slice(1),
};

let written = Promise.resolve();

// What one writes arrives in the order of writing. A command comes after it, and holds nothing up.
export function act(action, body = {}, files = {}) {
  const whole = { as: here.you, place: here.place, ...body };
  if (!["types", "says", "runs"].includes(action)) return ask(action, whole, files);
  const answer = written.then(() => ask(action, whole, files));
  const isCommand = action === "runs" || body.text?.startsWith("/");
  if (!isCommand) written = answer;
  return answer;
}

// The answer says whether one has left meanwhile: what it shows belongs to where it was asked.
async function ask(action, whole, files) {
  const answer = await answered(action, whole, files);
  return { ...answer, left: whole.as !== here.you || whole.place !== here.place };
}

async function answered(action, whole, files) {
  try {
    const response = await fetch(`page/${action}`, request(whole, files));
    if (response.status === 403) return { error: READING };
    return await response.json();
  } catch {
    return { error: "The sandbox does not answer. Is it still running?" };
  }
}

const READING = "This page can only read. Open the address that the sandbox printed, with its token.";

function request(body, files) {
  const headers = { "X-Sandbox-Token": here.token };
  const names = Object.keys(files);
  if (!names.length) {
    headers["Content-Type"] = "application/json";
    return { method: "POST", headers, body: JSON.stringify(body) };
  }
  const form = new FormData();
  form.append("body", JSON.stringify(body));
  for (const name of names) form.append(name, files[name], files[name].name);
  return { method: "POST", headers, body: form };
}

let source = null;

export function listen(handlers) {
  if (source) source.close();
  const query = new URLSearchParams({ as: here.you, place: here.place });
  source = stream(`page/live?${query}`, handlers);
}

export function stream(address, handlers) {
  const opened = new EventSource(address);
  for (const [name, handler] of Object.entries(handlers)) {
    if (name === "lost") opened.onerror = handler;
    else if (name === "found") opened.onopen = handler;
    else opened.addEventListener(name, (event) => handler(JSON.parse(event.data)));
  }
  return opened;
}

let typed = 0;

export function typing() {
  if (Date.now() - typed < TYPING_PAUSE) return;
  typed = Date.now();
  act("types");
}

export function spoken() {
  typed = 0;
}
