// A slash command whose options are filled in one by one, in place of the message box.

import { byId, iconButton, make } from "./dom.js";
import { act } from "./link.js";

const [INTEGER, BOOLEAN, USER, CHANNEL, ROLE, MENTIONABLE, NUMBER, FILE] = [4, 5, 6, 7, 8, 9, 10, 11];
const PAUSE = 150; // milliseconds of rest before choices are asked for

export class CommandForm {
  constructor(context, suggestions, finished) {
    Object.assign(this, { context, suggestions, finished });
    this.form = byId("command");
    this.form.addEventListener("submit", (event) => this.submit(event));
    this.form.addEventListener("keydown", (event) => this.key(event));
  }

  open(command) {
    this.command = command;
    this.fields = new Map(command.options.map((each) => [each.name, this.field(each)]));
    this.trouble = make("p", { className: "trouble", role: "alert" });
    const head = make("div", { className: "command-head" },
      make("strong", {}, `/${command.name}`), make("span", {}, command.description),
      iconButton("close", "Cancel the command", () => this.close()));
    const fields = make("div", { className: "options" }, [...this.fields.values()].map((each) => each.element));
    const run = make("button", { type: "submit", className: "button primary" }, "Run");
    this.form.replaceChildren(head, fields, this.trouble, run);
    this.form.setAttribute("aria-label", `Command ${command.name}`);
    this.form.hidden = false;
    byId("composer").hidden = true;
    (this.form.querySelector("input") ?? run).focus();
  }

  close() {
    this.suggestions.hide();
    this.form.hidden = true;
    byId("composer").hidden = false;
    this.finished();
  }

  field(option) {
    const id = `option-${option.name}`;
    const input = make("input", {
      id, autocomplete: "off", type: option.type === FILE ? "file" : "text",
      required: option.required, "aria-describedby": `${id}-about`,
      inputMode: option.type === INTEGER || option.type === NUMBER ? "decimal" : "text",
      oninput: () => this.suggest(option),
      onfocus: () => this.suggest(option),
      onblur: () => this.suggestions.hide(),
    });
    if (option.type !== FILE) {
      for (const [name, value] of [["role", "combobox"], ["aria-controls", "suggestions"], ["aria-expanded", "false"]]) {
        input.setAttribute(name, value);
      }
    }
    const about = make("small", { id: `${id}-about` }, option.description);
    const optional = option.required ? "" : " (optional)";
    const element = make("div", { className: "option" }, make("label", { for: id }, option.name + optional), input, about);
    return { element, input, value: null };
  }

  async suggest(option) {
    const field = this.fields.get(option.name);
    field.value = null;
    const typed = field.input.value;
    const choices = option.autocomplete ? await this.asked(option, typed) : this.known(option);
    // The answer may come after the cursor went elsewhere.
    if (document.activeElement !== field.input || field.input.value !== typed) return;
    const fitting = option.autocomplete ? choices : choices.filter((each) => each.name.toLowerCase().includes(typed.toLowerCase()));
    this.suggestions.show(field.input, fitting.slice(0, 25).map(({ name, value }) => ({
      label: name,
      run: () => {
        field.input.value = name;
        field.value = String(value);
      },
    })));
  }

  async asked(option, typed) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    if (this.fields.get(option.name).input.value !== typed) return [];
    const answer = await act("completes", { name: this.command.name, option: option.name, typed, options: this.values() });
    if (answer.failed) this.tell("Loading options failed");
    return answer.choices ?? [];
  }

  known(option) {
    if (option.choices?.length) return option.choices;
    const { users, roles, places } = this.context.names;
    const listed = (names, sign) => Object.entries(names).map(([value, name]) => ({ name: sign + name.replace(/^@/, ""), value }));
    switch (option.type) {
      case BOOLEAN: return [{ name: "True", value: "true" }, { name: "False", value: "false" }];
      case USER: return listed(users, "@");
      case ROLE: return listed(roles, "@");
      case MENTIONABLE: return [...listed(users, "@"), ...listed(roles, "@")];
      case CHANNEL: return listed(places, "#");
      default: return [];
    }
  }

  values() {
    const given = {};
    for (const [name, { input, value }] of this.fields) {
      if (input.type !== "file" && input.value) given[name] = value ?? input.value;
    }
    return given;
  }

  tell(text) {
    this.trouble.textContent = text;
  }

  submit(event) {
    event.preventDefault();
    for (const [name, { input }] of this.fields) {
      const missing = input.required && !input.value;
      input.setAttribute("aria-invalid", String(missing));
      if (missing) {
        this.tell(`“${name}” is required`);
        input.focus();
        return;
      }
    }
    this.run();
  }

  async run() {
    const files = {};
    for (const [name, { input }] of this.fields) if (input.files?.length) files[name] = input.files[0];
    const wrong = await this.context.run(this.command, this.values(), files);
    if (wrong) this.tell(wrong);
    else this.close();
  }

  key(event) {
    if (this.suggestions.key(event)) return;
    if (event.key === "Escape" || (event.key === "Backspace" && event.target.value === "" && this.isFirst(event.target))) {
      event.preventDefault();
      this.close();
    }
  }

  isFirst(input) {
    return input === this.form.querySelector("input");
  }
}
