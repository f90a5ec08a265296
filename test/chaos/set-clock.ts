/**
 * Preloaded into a process of a run: its wall clock is off by as many milliseconds as the file that CHAOS_CLOCK names
 * says, from its start and from each SIGUSR2 on. The monotonic clock goes on as it does on a machine that is set.
 */
import { readFileSync } from "node:fs";

const file = process.env.CHAOS_CLOCK ?? "";
const realNow = Date.now;
let offsetMs = 0;

function read(): void {
  offsetMs = Number(readFileSync(file, "utf8"));
}

Date.now = () => realNow() + offsetMs;
globalThis.Date = new Proxy(Date, {
  construct: (date, args, target) => Reflect.construct(date, args.length === 0 ? [Date.now()] : args, target),
});
read();
process.on("SIGUSR2", read);
