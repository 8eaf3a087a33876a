// A slash command whose options are filled in one by one, in place of the message box.

import { byId, iconButton, make } from "./dom.js";
import { act } from "./link.js";
import { fieldOf, offered, same } from "./option.js";

const PAUSE = 150; // milliseconds of rest before choices are asked for

export class CommandForm {
  constructor(context, suggestions, composer) {
    Object.assign(this, { context, suggestions, composer });
    this.form = byId("command");
    this.form.addEventListener("submit", (event) => this.submit(event));
    this.form.addEventListener("keydown", (event) => this.key(event));
  }

  open(command) {
    this.use = { running: false }; // one opening of the form, until it is closed
    this.draw(command, new Map());
    byId("composer").hidden = true;
    (this.form.querySelector("input") ?? this.form.querySelector("[type=submit]")).focus();
  }

  // The bot may change a command, or take it back, while its options are filled in.
  renewed() {
    if (this.form.hidden) return;
    const { commands } = this.context;
    const { name, bot } = this.command;
    const now = commands.find((each) => same(each, this.command))
      ?? commands.find((each) => each.name === name && each.bot === bot);
    if (!now) {
      this.close();
      this.composer.tell(`There is no /${name} any more.`);
    } else if (same(now, this.command)) this.lookAgain();
    else {
      const focused = this.form.contains(document.activeElement) ? document.activeElement.id : null;
      this.draw(now, this.fields);
      if (focused !== null) (byId(focused) ?? this.form.querySelector("input, [type=submit]")).focus();
    }
  }

  draw(command, before) {
    this.command = command;
    this.fields = new Map(command.options.map((each) => [each.name, fieldOf(each, before.get(each.name), this)]));
    this.trouble = make("p", { className: "trouble", role: "alert" });
    const head = make("div", { className: "command-head" },
      make("strong", {}, `/${command.name}`), make("span", {}, command.description),
      iconButton("close", "Cancel the command", () => this.close()));
    const fields = make("div", { className: "options" }, [...this.fields.values()].map((each) => each.element));
    const run = make("button", { type: "submit", className: "button primary" }, "Run");
    this.form.replaceChildren(head, fields, this.trouble, run);
    this.form.setAttribute("aria-label", `Command ${command.name}`);
    this.form.hidden = false;
  }

  close() {
    const focused = this.form.contains(document.activeElement);
    this.use = null;
    this.hide();
    this.form.hidden = true;
    byId("composer").hidden = false;
    if (focused) this.composer.text.focus();
  }

  suggest(field) {
    this.asking = {}; // the last question; answers to those before it are not shown
    if (field.option.autocomplete) this.ask(field, this.asking);
    else this.offer(field, offered(field, this.context.names));
  }

  // Names have changed, and with them what an option offers.
  lookAgain() {
    const field = [...this.fields.values()].find((each) => each.input === document.activeElement);
    if (field && !field.option.autocomplete && field.value === null && !this.suggestions.putAway) this.suggest(field);
  }

  hide() {
    this.asking = null;
    this.suggestions.hide();
  }

  offer(field, choices) {
    this.suggestions.show(field.input, choices.slice(0, 25).map(({ name, value }) => ({
      label: name,
      run: () => {
        this.asking = null;
        field.input.value = name;
        field.value = String(value);
      },
    })));
  }

  async ask(field, asking) {
    const { name } = this.command;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
    if (this.asking !== asking) return;
    const asked = { name, option: field.option.name, typed: field.input.value, options: this.values() };
    const answer = await act("completes", asked);
    if (this.asking !== asking) return;
    if (answer.failed) this.tell("Loading options failed");
    this.offer(field, answer.choices ?? []);
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
    const { use } = this;
    if (use.running) return;
    use.running = true;
    const files = {};
    for (const [name, { input }] of this.fields) if (input.files?.length) files[name] = input.files[0];
    const wrong = await this.context.run(this.command, this.values(), files);
    use.running = false;
    if (wrong) (use === this.use ? this : this.composer).tell(wrong);
    else if (use === this.use) this.close();
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
