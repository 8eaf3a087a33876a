// Times as people read them.

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const clockLong = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const short = new Intl.DateTimeFormat(undefined, { dateStyle: "short" });
const long = new Intl.DateTimeFormat(undefined, { dateStyle: "long" });
const both = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "short" });
const ago = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
const STYLES = { t: clock, T: clockLong, d: short, D: long, f: both, F: whole };
const UNITS = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60]];

export const clockOf = (moment) => clock.format(moment);
export const dayOf = (moment) => long.format(moment);
export const spelled = (moment) => whole.format(moment);
export const stamped = (moment, style) => STYLES[style].format(moment);

export function relative(moment) {
  const seconds = Math.round((moment - Date.now()) / 1000);
  const [unit, length] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ["second", 1];
  return ago.format(Math.round(seconds / length), unit);
}

export function keepRelativeTimes() {
  setInterval(() => {
    for (const each of document.querySelectorAll("time[data-relative]")) {
      each.textContent = relative(new Date(each.dataset.relative * 1000));
    }
  }, 20000);
}
