// The small box in which an own message is changed.

import { make } from "./dom.js";
import { act } from "./link.js";
import { sent, typed } from "./writing.js";

export function editor(view, context, done) {
  const text = make("textarea", { "aria-label": "Edit message", rows: 1, className: "editor-text" });
  text.value = typed(view.message.content ?? "", context.names);
  const finish = async (save) => {
    const wanted = sent(text.value.trim(), context.names);
    if (save && wanted && wanted !== view.message.content) {
      const answer = await act("edits", { message: view.message.id, text: wanted });
      if (answer.error) {
        trouble.textContent = answer.error;
        return;
      }
    }
    done();
  };
  const trouble = make("small", { className: "trouble", role: "alert" });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Escape") finish(false);
    else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) finish(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  const button = (label, save) => make("button", { type: "button", className: "link", onclick: () => finish(save) }, label);
  return make("div", { className: "editor" }, text,
    make("small", {}, "Escape to ", button("cancel", false), ", Enter to ", button("save", true)), trouble);
}
