// The page: joins its parts, and keeps what all of them need to know.

import { announce, byId } from "./dom.js";
import { act, here, listen } from "./link.js";
import { Composer } from "./composer.js";
import { chosen, modal, named, sure } from "./dialogs.js";
import { editor } from "./editor.js";
import { localLine } from "./message.js";
import { Messages, arrows } from "./messages.js";
import { Panel } from "./panel.js";
import { Sidebar } from "./sidebar.js";
import { startTheme } from "./theme.js";
import { keepRelativeTimes } from "./time.js";
import { Toolbar } from "./toolbar.js";
import { Typing } from "./typing.js";
import { Welcome } from "./welcome.js";
import { sent } from "./writing.js";

const FAILED = "This interaction failed: the application did not respond in time.";
const FOLLOWING = 10000; // milliseconds in which a thread on one's message is followed

const none = { users: {}, roles: {}, places: {} };

// What messages, the message box and dialogs ask of the page.
const page = {
  state: null,
  get you() { return this.state?.you ?? ""; },
  get names() { return this.state?.names ?? none; },
  get may() { return this.state?.here?.may ?? {}; },
  get commands() { return this.state?.here?.commands ?? []; },
  get isChannel() { return Boolean(this.state?.here) && !this.state.here.parent && !this.isDirect; },
  get isDirect() { return this.state.directs.some((each) => each.id === here.place); },
  go,
  show: (id) => messages.show(id),
  acts: async (action, message, body) => taken(await act(action, { message: message.id, ...body })),
  does: async (action, message, body) => composer.tell((await act(action, { message: message.id, ...body })).error ?? ""),
  dismiss: (message) => messages.dismiss(message.id),
  run,
  answered,
  suggested,
};

const messages = new Messages(page);
const composer = new Composer(page, editLast);
const typing = new Typing();
const panel = new Panel(page);
const welcome = new Welcome(page);
const sidebar = new Sidebar({ go, become, message: openDirect });
new Toolbar(page, { reply: (message) => composer.replying(message), edit, forward, thread: openThread, remove });

function connect() {
  listen({
    state: showState,
    messages: (list) => messages.all(list),
    message: (each) => {
      messages.upsert(each);
      follow(each);
    },
    gone: ({ id }) => messages.remove(id),
    lost: () => byId("lost").hidden = false,
    found: () => byId("lost").hidden = true,
  });
}

// What typed and drawn text may name.
const known = (state) => JSON.stringify([state?.names, state?.here?.commands]);

function showState(state) {
  const first = page.state === null;
  const renewed = known(state) !== known(page.state);
  page.state = state;
  here.you = state.you;
  if (first) panel.breakages(state.breakages);
  if (!state.here) {
    const somewhere = state.guilds[0]?.channels[0] ?? state.directs[0];
    if (somewhere && somewhere.id !== here.place) go(somewhere.id);
    else sidebar.show(state, "");
    return;
  }
  sidebar.show(state, here.place);
  showHead(state);
  typing.show(state.here.typing);
  welcome.notice(state.notice);
  welcome.suggestions(state);
  if (!renewed) return;
  composer.renewed();
  messages.renewed();
}

function showHead({ here: place, names, directs }) {
  const direct = directs.find((each) => each.id === place.id);
  const name = direct ? `@${direct.name}` : (place.parent ? "" : "#") + names.places[place.id];
  byId("title").textContent = name;
  byId("topic").textContent = place.topic ?? (place.parent ? `in #${names.places[place.parent]}` : "");
  byId("beginning-name").textContent = name;
  const kind = place.parent ? `A thread in #${names.places[place.parent]}.` : `This is the beginning of ${name}.`;
  byId("beginning-text").textContent = place.topic ?? kind;
  byId("messages").setAttribute("aria-label", `Messages in ${name}`);
  document.title = `${name} · Sandbox`;
  composer.placed(name, place.may);
}

function go(place) {
  byId("side").classList.remove("open");
  if (place === here.place && page.state?.here) return;
  here.place = place;
  history.replaceState(null, "", `#${place}`);
  restart();
}

function become(person) {
  here.you = person;
  sessionStorage.setItem("sandbox-you", person);
  restart();
}

function restart() {
  messages.clear();
  typing.show([]);
  composer.clear();
  connect();
}

async function openDirect(bot) {
  const answer = await act("opens", { bot: bot.id });
  if (answer.place && !answer.left) go(answer.place);
}

// An answer to a click or a form: what it opens, it opens here.
function taken(answer) {
  if (answer.modal && !answer.left) modal(answer.modal, page);
  return answer;
}

async function run(command, options, files) {
  const line = localLine(`Sending /${command.name}…`);
  messages.local(line);
  const answer = await act("runs", { name: command.name, options }, files);
  line.remove();
  if (answer.error) return answer.error;
  answered(`/${command.name}`, answer);
  return "";
}

function answered(command, answer) {
  if (answer.failed && !answer.left) {
    messages.local(localLine(`${command} — ${FAILED}`, { failed: true }));
    announce(FAILED);
  }
  taken(answer);
}

// -- what is done to messages -----------------------------------------------------------------

function edit(view) {
  const done = () => {
    view.setEditing(null);
    byId("text").focus();
  };
  const box = editor(view, page, done);
  view.setEditing(box);
  const text = box.querySelector("textarea");
  text.focus();
  text.style.height = `${text.scrollHeight}px`;
}

function editLast() {
  const own = [...messages.views.values()].reverse().find((each) => each.message.author.id === page.you && !each.message.system);
  if (own) edit(own);
}

async function remove(message) {
  const text = `“${(message.content ?? "This message").slice(0, 120)}” will be gone for everyone.`;
  if (await sure("Delete this message?", text, "Delete")) page.does("deletes", message, {});
}

async function forward(message) {
  const { guilds, directs } = page.state;
  const places = guilds.flatMap((guild) => guild.channels.flatMap((each) => [each, ...each.threads]));
  const choices = [...places.map((each) => ({ label: `#${each.name}`, value: each.id })),
    ...directs.map((each) => ({ label: `@${each.name}`, value: each.id }))];
  const to = await chosen("Forward to", choices);
  await page.does("forwards", message, { to });
  if (to !== here.place) announce("Forwarded");
}

async function openThread(message) {
  const name = await named("Create thread", "Thread name", (message.content ?? "").slice(0, 40) || "New thread");
  const answer = await act("opens", { message: message.id, name });
  if (answer.error) composer.tell(answer.error);
  else if (!answer.left) go(answer.place);
}

// -- what a first visitor tries ---------------------------------------------------------------

let followed = null;

async function suggested(name, bot, says) {
  if (name === "restart") {
    const broken = await act("breaks", { name: "restart" });
    if (broken.error) {
      composer.tell(broken.error);
      return;
    }
  }
  const mention = page.isChannel ? `<@${bot.id}> ` : "";
  const answer = await act("says", { text: mention + sent(says, page.names) });
  if (answer.error) composer.tell(answer.error);
  followed = { id: answer.message, until: Date.now() + FOLLOWING };
  const view = messages.views.get(answer.message);
  if (view) follow(view.message);
}

// Where the bot opens a thread on what was suggested, the conversation goes on in there.
function follow(message) {
  if (followed?.id !== message.id || !message.thread || Date.now() > followed.until) return;
  followed = null;
  go(message.thread.id);
}

byId("messages").addEventListener("keydown", (event) => arrows(event, byId("messages")));
byId("messages").addEventListener("focusin", (event) => messages.reachable(event.target.closest("li.message")?.view));
byId("menu").addEventListener("click", () => {
  byId("side").classList.toggle("open");
  byId("side").querySelector("button")?.focus();
});
byId("side").addEventListener("keydown", (event) => {
  if (event.key === "Escape") byId("side").classList.remove("open");
});
byId("curtain").addEventListener("click", () => byId("side").classList.remove("open"));
window.addEventListener("hashchange", () => {
  const place = location.hash.slice(1);
  if (/^\d+$/.test(place)) go(place);
});
startTheme();
keepRelativeTimes();
byId("reading").hidden = Boolean(here.token);
connect();
