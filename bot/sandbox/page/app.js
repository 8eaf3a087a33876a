"use strict";

// Everything people and bots write is put into text nodes, so that none of it becomes markup.

const token = new URLSearchParams(location.search).get("token") || "";
const byId = (id) => document.getElementById(id);
const state = { who: "", place: "", source: null };

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties || {});
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

async function send(action, body) {
  byId("notice").textContent = "";
  const response = await fetch("page/" + action, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Sandbox-Token": token },
    body: JSON.stringify({ as: state.who, place: state.place, ...body }),
  });
  if (response.status === 403) {
    byId("notice").textContent = await response.text();
    return {};
  }
  const answer = await response.json();
  if (answer.error) byId("notice").textContent = answer.error;
  if (answer.failed) byId("notice").textContent = "This interaction failed";
  return answer;
}

function listen() {
  if (state.source) state.source.close();
  const query = new URLSearchParams({ as: state.who, place: state.place });
  state.source = new EventSource("page/live?" + query);
  state.source.onmessage = (event) => show(JSON.parse(event.data));
}

function go(place) {
  state.place = place;
  listen();
}

function show(seen) {
  showPeople(seen.people);
  showPlaces(seen.places);
  showInside(seen.inside || { messages: [], typing: [], commands: [] });
}

function showPeople(people) {
  const who = byId("who");
  if (who.options.length !== people.length) {
    who.replaceChildren(...people.map((each) => make("option", { value: each.id }, each.name)));
    who.value = state.who || people[0].id;
    state.who = who.value;
  }
}

function showPlaces(places) {
  const items = places.map((each) => {
    const button = make("button", { type: "button" }, (each.kind ? "" : "# ") + each.name);
    button.onclick = () => go(each.id);
    if (each.id === state.place) button.setAttribute("aria-current", "true");
    return make("li", { className: each.parent ? "thread" : "" }, button);
  });
  byId("places").replaceChildren(...items);
  const here = places.find((each) => each.id === state.place);
  byId("title").textContent = here ? here.name : "Sandbox";
  if (!here && places.length) go(places[0].id);
}

function showInside(inside) {
  const list = byId("messages");
  const atEnd = list.scrollHeight - list.scrollTop - list.clientHeight < 40;
  list.replaceChildren(...inside.messages.map(showMessage));
  if (atEnd) list.scrollTop = list.scrollHeight;
  byId("typing").textContent = inside.typing.length ? inside.typing.join(", ") + " is typing…" : "";
  byId("commands").replaceChildren(...inside.commands.map(showCommand));
}

function showCommand(command) {
  const options = (command.options || []).map((each) => " " + each.name + ":").join("");
  return make("li", {}, make("code", {}, "/" + command.name + options), " " + command.description);
}

function showMessage(message) {
  const notes = [new Date(message.at).toLocaleTimeString()];
  if (message.author.bot) notes.push("bot");
  if (message.edited) notes.push("edited");
  if (message.ephemeral) notes.push("only you see this");
  const content = message.loading ? "is thinking…" : message.content;
  return make(
    "li",
    { className: message.ephemeral ? "ephemeral" : "" },
    message.reply_to ? make("p", { className: "reply" }, "↪ " + message.reply_to) : null,
    make("strong", {}, message.author.name),
    make("small", {}, " " + notes.join(" · ")),
    make("p", { className: "content" }, content),
    ...message.embeds.map(showEmbed),
    ...message.files.map(showFile),
    ...message.components.map((each) => showComponent(message, each)),
    showThread(message),
  );
}

function showEmbed(embed) {
  return make("blockquote", {}, [embed.title, embed.description].filter(Boolean).join("\n"));
}

function showFile(file) {
  return make("p", {}, make("a", { href: file.url, download: file.filename }, file.filename));
}

function showThread(message) {
  if (!message.thread) return null;
  const button = make("button", { type: "button" }, "Open the thread");
  button.onclick = () => go(message.thread);
  return button;
}

function showComponent(message, component) {
  if (component.type === 2) return showButton(message, component);
  if (component.type === 10) return make("p", { className: "content" }, component.content);
  const inner = [...(component.components || []), component.accessory].filter(Boolean);
  return make("div", { className: "row" }, ...inner.map((each) => showComponent(message, each)));
}

function showButton(message, component) {
  const name = component.label || component.custom_id;
  if (component.url) return make("a", { href: component.url, rel: "noreferrer" }, name);
  const button = make("button", { type: "button", disabled: Boolean(component.disabled) }, name);
  button.onclick = () => send("clicks", { message: message.id, button: component.custom_id });
  return button;
}

byId("who").onchange = (event) => {
  state.who = event.target.value;
  listen();
};

byId("dm").onclick = async () => {
  const answer = await send("opens", {});
  if (answer.place) go(answer.place);
};

byId("form").onsubmit = async (event) => {
  event.preventDefault();
  const text = byId("text").value;
  if (!text.trim()) return;
  byId("text").value = "";
  await send("says", { text });
};

byId("text").onkeydown = (event) => {
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    byId("form").requestSubmit();
  }
};

listen();
