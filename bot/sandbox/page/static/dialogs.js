// Dialogs: the forms that bots open, and the questions that the page itself asks.

import { byId, iconButton, make } from "./dom.js";
import { isMenu, optionsOf } from "./components.js";
import { draw } from "./drawing.js";
import { act } from "./link.js";
import { Menu } from "./menu.js";

const PARAGRAPH = 2;

function shown(title, body, buttons) {
  const dialog = make("dialog", { "aria-labelledby": "dialog-title" },
    make("form", { method: "dialog" },
      make("header", {}, make("h2", { id: "dialog-title" }, title),
        iconButton("close", "Close", () => dialog.close())),
      make("div", { className: "dialog-body" }, body), make("footer", {}, buttons)));
  dialog.addEventListener("close", () => {
    dialog.remove();
    byId("text").focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

const button = (label, style, onclick) =>
  make("button", { type: onclick ? "button" : "submit", className: `button ${style}`, onclick }, label);

// A form that a bot opened. It stays until the bot has taken it.
export function modal(form, context) {
  const values = {};
  const trouble = make("p", { className: "trouble", role: "alert" });
  const body = form.components.map((each) => part(each, values, context));
  const submit = button("Submit", "primary");
  const dialog = shown(form.title, [body, trouble], [button("Cancel", "secondary", () => dialog.close()), submit]);
  dialog.querySelector("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    const fields = Object.fromEntries(Object.entries(values).map(([name, read]) => [name, read()]));
    const answer = await act("submits", { modal: form.id, fields });
    submit.disabled = false;
    trouble.textContent = answer.failed ? "Something went wrong. Try again." : (answer.error ?? "");
    if (!trouble.textContent) dialog.close();
    if (answer.modal) modal(answer.modal, context);
  });
  dialog.querySelector("input, textarea, .menu-button")?.focus();
}

function part(each, values, context) {
  if (each.type === 10) return make("div", { className: "content" }, draw(each.content, context));
  const item = each.component ?? each.components[0];
  const id = `field-${item.custom_id}`;
  const star = item.required === false ? null : make("span", { className: "star", "aria-hidden": "true" }, " *");
  const label = make("label", { for: id, id: `${id}-label` }, each.label ?? item.label, star);
  const about = each.description && make("small", { id: `${id}-about` }, each.description);
  return make("div", { className: "field" }, label, about, input(item, id, values, context, about));
}

function input(item, id, values, context, about) {
  if (isMenu(item)) {
    const menu = new Menu({
      label: item.placeholder || "Make a selection", offered: () => optionsOf(item, context.names),
      least: item.min_values ?? 1, most: item.max_values ?? 1, labelledBy: `${id}-label`, chosen: () => {},
    });
    values[item.custom_id] = () => menu.values;
    return menu.element;
  }
  const long = item.style === PARAGRAPH;
  const drawn = make(long ? "textarea" : "input", {
    id, required: item.required !== false, placeholder: item.placeholder ?? "",
    "aria-describedby": about ? about.id : null,
  });
  if (item.max_length) drawn.maxLength = item.max_length;
  if (item.min_length) drawn.minLength = item.min_length;
  if (long) drawn.rows = 4;
  drawn.value = item.value ?? "";
  values[item.custom_id] = () => drawn.value;
  return drawn;
}

export function sure(title, text, label) {
  return new Promise((resolve) => {
    const dialog = shown(title, make("p", {}, text), [
      button("Cancel", "secondary", () => dialog.close()),
      button(label, "danger", () => {
        resolve(true);
        dialog.close();
      }),
    ]);
    dialog.querySelector(".danger").focus();
  });
}

export function named(title, label, suggestion) {
  return new Promise((resolve) => {
    const field = make("input", { id: "dialog-name", required: true, maxLength: 100, value: suggestion });
    const body = make("div", { className: "field" }, make("label", { for: "dialog-name" }, label), field);
    const dialog = shown(title, body, [button("Cancel", "secondary", () => dialog.close()), button("Create", "primary")]);
    dialog.querySelector("form").addEventListener("submit", () => resolve(field.value.trim()));
    field.select();
  });
}

export function chosen(title, choices) {
  return new Promise((resolve) => {
    const buttons = choices.map(({ label, value }) =>
      make("button", { type: "button", className: "choice", onclick: () => {
        resolve(value);
        dialog.close();
      } }, label));
    const dialog = shown(title, buttons, [button("Cancel", "secondary", () => dialog.close())]);
    buttons[0]?.focus();
  });
}
