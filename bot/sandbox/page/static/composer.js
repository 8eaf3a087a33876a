// The box in which messages are written.

import { byId, icon, iconButton, make } from "./dom.js";
import { act, spoken, typing } from "./link.js";
import { sized } from "./parts.js";
import { length, sent, wordAt } from "./writing.js";
import { CommandForm } from "./command.js";
import { Suggestions } from "./suggestions.js";

const MOST = 2000; // code points of a message
const MOST_FILES = 10;
const WARNED = 1800;

export class Composer {
  constructor(context, editLast) {
    this.context = context;
    this.editLast = editLast;
    this.text = byId("text");
    this.files = [];
    this.suggestions = new Suggestions();
    this.commands = new CommandForm(context, this.suggestions, this);
    byId("composer").addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.text.addEventListener("input", () => this.changed());
    this.text.addEventListener("keydown", (event) => this.key(event));
    this.text.addEventListener("focus", () => this.lookAgain());
    this.text.addEventListener("blur", () => this.suggestions.hide());
    this.text.addEventListener("paste", (event) => this.take(event, event.clipboardData.files));
    byId("attach").addEventListener("click", () => byId("files").click());
    byId("files").addEventListener("change", (event) => {
      this.add(event.target.files);
      event.target.value = "";
    });
    document.body.addEventListener("dragover", (event) => event.preventDefault());
    document.body.addEventListener("drop", (event) => this.take(event, event.dataTransfer.files));
  }

  // What the place allows.
  placed(name, may) {
    const placeholder = may.send ? `Message ${name}` : "You do not have permission to send messages here.";
    this.text.placeholder = placeholder;
    this.text.setAttribute("aria-label", placeholder);
    this.text.disabled = !may.send;
    byId("send").disabled = !may.send;
    byId("attach").disabled = !may.attach || !may.send;
  }

  clear() {
    this.text.value = "";
    this.files = [];
    this.replying(null);
    this.tell("");
    this.showFiles();
    this.changed();
    if (!this.commands.form.hidden) this.commands.close();
  }

  replying(message) {
    this.reply = message;
    const bar = byId("replying");
    bar.hidden = !message;
    bar.replaceChildren();
    if (!message) return;
    bar.append(make("span", {}, "Replying to ", make("strong", {}, message.author.name)),
      iconButton("close", "Cancel the reply", () => this.replying(null)));
    this.text.focus();
  }

  tell(text) {
    byId("trouble").textContent = text;
    byId("trouble").hidden = !text;
  }

  changed() {
    this.measure();
    if (this.text.value) typing();
    const command = this.entered();
    if (command) this.choose(command);
    else this.suggest();
  }

  measure() {
    this.text.style.height = "auto";
    this.text.style.height = `${this.text.scrollHeight}px`;
    const count = length(this.text.value);
    const left = byId("left");
    left.hidden = count < WARNED;
    left.textContent = count > MOST ? "Will be sent as message.txt" : `${MOST - count} left`;
  }

  // Commands or names have changed, and with them what the typed text may mean.
  renewed() {
    this.commands.renewed();
    if (document.activeElement === this.text) this.lookAgain();
  }

  // A form may open without a key, but nothing runs.
  lookAgain() {
    if (this.suggestions.putAway) return;
    const command = this.entered();
    if (command?.options.length) this.choose(command);
    else this.suggest();
  }

  suggest() {
    const found = this.word();
    this.suggestions.show(this.text, found ? this.offered(found).slice(0, 25) : []);
  }

  word() {
    return wordAt(this.text.value, this.text.selectionStart);
  }

  // A space after the name of a command means that its options follow.
  entered() {
    const { sign, word } = this.word() ?? {};
    if (sign !== "/" || !word.endsWith(" ")) return null;
    return this.context.commands.find((each) => each.name === word.trim());
  }

  offered({ sign, word, from }) {
    const lower = word.toLowerCase().trimEnd();
    if (sign === "/") {
      return this.context.commands.filter((each) => each.name.includes(lower)).map((each) => ({
        label: `/${each.name}`,
        hint: each.options.map((one) => one.name + (one.required ? "" : "?")).join(" "),
        about: each.description,
        by: each.bot,
        run: () => this.choose(each),
      }));
    }
    const { users, places } = this.context.names;
    const names = Object.values(sign === "@" ? users : places);
    // What is written out already needs no completing, and Enter sends it.
    if (names.some((each) => each.toLowerCase() === lower)) return [];
    return names.filter((each) => each.toLowerCase().includes(lower)).map((each) => ({
      label: sign + each,
      run: () => this.complete(from, `${sign}${each} `),
    }));
  }

  complete(from, text) {
    this.text.setRangeText(text, from, this.text.selectionStart, "end");
    this.changed();
  }

  choose(command) {
    this.text.value = "";
    this.changed();
    if (command.options.length) this.commands.open(command);
    else this.context.run(command, {}, {}).then((wrong) => this.tell(wrong));
  }

  key(event) {
    if (this.suggestions.key(event) || event.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.send();
    } else if (event.key === "Escape" && this.reply) {
      this.replying(null);
    } else if (event.key === "ArrowUp" && !this.text.value) {
      event.preventDefault();
      this.editLast();
    }
  }

  take(event, files) {
    if (!files.length) return;
    event.preventDefault();
    this.add(files);
  }

  add(files) {
    this.files = [...this.files, ...files].slice(0, MOST_FILES);
    this.showFiles();
    this.text.focus();
  }

  showFiles() {
    const shown = this.files.map((file) => make("li", {}, icon("file"), make("span", {}, file.name),
      make("small", {}, sized(file.size)), iconButton("close", `Remove ${file.name}`, () => {
        this.files = this.files.filter((each) => each !== file);
        this.showFiles();
      })));
    byId("attached").replaceChildren(...shown);
    byId("attached").hidden = !shown.length;
  }

  async send() {
    const written = this.text.value.trim();
    if (!written && !this.files.length) return;
    const kept = { text: written, files: this.files, reply: this.reply };
    const body = { text: sent(written, this.context.names), reply_to: this.reply?.id ?? null };
    const files = [...this.files];
    if (length(body.text) > MOST) {
      files.push(new File([written], "message.txt", { type: "text/plain" }));
      body.text = "";
    }
    this.clear();
    spoken();
    const named = Object.fromEntries(files.map((each, at) => [`file-${at}`, each]));
    const answer = await act("says", body, named);
    if (answer.error && answer.left) this.tell(`Not sent: “${written}”. ${answer.error}`);
    else if (answer.error) this.giveBack(kept, answer.error);
    else if (answer.failed !== undefined) this.context.answered(written, answer);
  }

  // What could not be sent stays in the box, above what was typed since.
  giveBack({ text, files, reply }, error) {
    this.tell(error);
    this.text.value = [text, this.text.value].filter(Boolean).join("\n");
    this.files = [...files, ...this.files].slice(0, MOST_FILES);
    this.showFiles();
    this.measure();
    if (reply && !this.reply) this.replying(reply);
  }
}
