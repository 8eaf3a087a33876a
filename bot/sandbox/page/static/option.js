// One option of a command: the field that it is typed into, and what is offered there.

import { make } from "./dom.js";

const [INTEGER, BOOLEAN, USER, CHANNEL, ROLE, MENTIONABLE, NUMBER, FILE] = [4, 5, 6, 7, 8, 9, 10, 11];

export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// Its field, with what was in the one before if it is of the same kind; `form` says what is offered.
export function fieldOf(option, before, form) {
  const field = { option, value: null };
  const id = `option-${option.name}`;
  const input = make("input", {
    id, autocomplete: "off", type: option.type === FILE ? "file" : "text",
    required: option.required, "aria-describedby": `${id}-about`,
    inputMode: option.type === INTEGER || option.type === NUMBER ? "decimal" : "text",
    oninput: () => {
      field.value = null;
      form.suggest(field);
    },
    onfocus: () => field.value === null && form.suggest(field),
    onblur: () => form.hide(),
  });
  if (option.type !== FILE) {
    for (const [name, value] of [["role", "combobox"], ["aria-controls", "suggestions"], ["aria-expanded", "false"]]) {
      input.setAttribute(name, value);
    }
  }
  const about = make("small", { id: `${id}-about` }, option.description);
  const optional = option.required ? "" : " (optional)";
  const element = make("div", { className: "option" }, make("label", { for: id }, option.name + optional), input, about);
  if (before?.option.type === option.type) {
    if (option.type === FILE) input.files = before.input.files;
    else input.value = before.input.value;
    if (same(before.option, option)) field.value = before.value;
  }
  return Object.assign(field, { element, input });
}

export function offered({ option, input }, names) {
  const typed = input.value.toLowerCase();
  return known(option, names).filter((each) => each.name.toLowerCase().includes(typed));
}

function known(option, { users, roles, places }) {
  if (option.choices?.length) return option.choices;
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
