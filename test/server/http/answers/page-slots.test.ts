import { EventEmitter } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { PageSlots } from "../../../../server/http/answers/page-slots.ts";

/** Takes turns of a principal, and says whose have come. */
function start(max: number, waitMs = 60_000) {
  const slots = new PageSlots(max, waitMs);
  const come: string[] = [];
  const ask = (name: string, principal = "desk") => {
    const response = Object.assign(new EventEmitter(), { destroyed: false });
    slots.take(principal, response, () => come.push(name));
    return () => {
      response.destroyed = true;
      response.emit("close");
    };
  };
  return { slots: slots, come, ask };
}

test("b109: so many pages of a principal are made at once, the others in their order as those end", () => {
  const { slots, come, ask } = start(2);
  const [endA] = ["a", "b", "c", "d"].map((name) => ask(name));
  ask("x", "another");
  expect(come).toEqual(["a", "b", "x"]);
  endA?.();
  expect(come).toEqual(["a", "b", "x", "c"]);
  expect(slots.waiting).toBe(1);
});

test("b109: a turn that is waited for goes to the next one where its caller has left, and all is forgotten at the end", () => {
  const { slots, come, ask } = start(1);
  const [endA, endB, endC] = ["a", "b", "c"].map((name) => ask(name));
  endB?.();
  endA?.();
  expect(come).toEqual(["a", "c"]);
  endC?.();
  expect([slots.waiting, slots.principals]).toEqual([0, 0]);
  ask("d");
  expect(come).toEqual(["a", "c", "d"]);
});

test("b109: a caller who has left before takes no turn, of whom no event would come to give it back", () => {
  const { slots, come, ask } = start(1);
  slots.take("desk", Object.assign(new EventEmitter(), { destroyed: true }), () => come.push("left"));
  expect(slots.principals).toBe(0);
  ask("a");
  expect(come).toEqual(["a"]);
});

test("b109: one that has waited for long goes on, and is refused or not by the room that there is", async () => {
  const { slots, come, ask } = start(1, 1);
  const ends = ["a", "b"].map((name) => ask(name));
  while (come.length < 2) await setImmediate();
  expect(slots.waiting).toBe(0);
  for (const end of ends) end();
  expect(slots.principals).toBe(0);
});
