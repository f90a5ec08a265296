import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { FirstReads } from "../../../../server/gateway/kept/first-reads.ts";

const responseOf = (destroyed = false) => Object.assign(new EventEmitter(), { destroyed });
const BUSY = expect.objectContaining({ code: "unavailable" });

test("b404: one call reads a batch's results at a time, and those that have waited for it need no turn", async () => {
  const reads = new FirstReads();
  let charged = false;
  const take = () => reads.take("a", "batch", responseOf(), async () => charged);
  const end = await take();
  const waiting = [take(), take()];
  charged = true;
  if (typeof end === "function") end();
  expect(await Promise.all(waiting)).toEqual([true, true]);
});

test("b404: a batch that is charged while its caller gets a turn is not read once more", async () => {
  const reads = new FirstReads();
  const answers = [false, true, false, false];
  const take = () => reads.take("a", "batch", responseOf(), async () => answers.shift() ?? false);
  expect(await take()).toBe(true);
  expect(await take()).toBeTypeOf("function");
});

test("b404: a team reads two batches at a time, others' calls are not held up by it, and too long a wait is refused", async () => {
  const reads = new FirstReads(20);
  const responses = [responseOf(), responseOf()];
  const take = (teamId: string, digest: string, response = responseOf()) =>
    reads.take(teamId, digest, response, async () => false);
  for (const [at, response] of responses.entries()) expect(await take("a", `${at}`, response)).toBeTypeOf("function");
  expect(await take("a", "2")).toEqual(BUSY);
  expect(await take("b", "2")).toBeTypeOf("function");
  const patient = take("a", "3");
  responses[0]?.emit("close");
  expect(await patient).toBeTypeOf("function");
  expect(await take("a", "4", responseOf(true))).toEqual(BUSY);
});
