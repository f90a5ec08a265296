import { expect, type TestContext, test } from "vitest";
import { createEndingNamespaces } from "../../../../controller/cluster/kubernetes/ending-namespaces.ts";
import type { DeclaredObject } from "../../../../controller/cluster/port.ts";
import { until } from "../../../env/until.ts";
import { type Call, startFakeApiServer, status } from "./fake-api-server.ts";

const DELETED_AT = "2026-01-01T00:00:00Z";
const at = Date.parse(DELETED_AT);
const object = (namespace: string, createdAt: number) => ({ namespace, createdAt }) as DeclaredObject;

/** Makes a first look at an API server that gives these answers; `look` makes another one. */
async function ask(
  context: TestContext,
  answers: Record<string, (call: Call) => void>,
  { declared = 1, confirm = async () => {} } = {},
) {
  const server = await startFakeApiServer((call) => answers[call.path.replace("/api/v1/namespaces/", "")]?.(call));
  context.onTestFinished(() => server.close());
  const changed: string[] = [];
  const lines: string[] = [];
  const shift = { ahead: 0 };
  const namespaces = createEndingNamespaces({
    api: server.api,
    confirm,
    inUse: () => new Map(Object.keys(answers).map((name) => [name, declared])),
    onChange: (namespace) => changed.push(namespace),
    clock: { monotonic: () => shift.ahead },
    log: (_level, message) => lines.push(message),
  });
  const look = () => namespaces.look(new AbortController().signal);
  await look();
  return { namespaces, changed, lines, look, shift };
}

const namespace = (name: string, more: object) => (call: Call) => call.answer(200, { metadata: { name, ...more } });

test("c57: a namespace that is being deleted takes what was declared in it until then, and nothing of its successor", async (context) => {
  const { namespaces, changed } = await ask(context, {
    alive: namespace("alive", {}),
    ending: namespace("ending", { deletionTimestamp: DELETED_AT }),
    last: namespace("last", {}),
  });
  expect(changed).toEqual(["ending"]);
  expect(namespaces.takes(object("ending", at - 1_000))).toBe(true);
  expect(namespaces.isTerminating(object("ending", at - 1_000))).toBe(true);
  expect(namespaces.takes(object("ending", at + 1_000))).toBe(false);
  expect(namespaces.takes(object("alive", at - 1_000))).toBe(false);
});

test("c57: a namespace that nothing is known of takes nothing: it is refused, fails, or another answers", async (context) => {
  const { namespaces, changed, lines } = await ask(context, {
    refused: (call) => call.answer(403, status(403, "Forbidden")),
    alike: (call) => call.answer(403, status(403, "Forbidden")),
    missing: (call) => call.answer(404, status(404, "NotFound")),
    failing: (call) => call.answer(500, status(500, "InternalError")),
    strange: namespace("another", { deletionTimestamp: DELETED_AT }),
    ending: namespace("ending", { deletionTimestamp: DELETED_AT }),
  });
  expect(changed).toEqual(["ending"]);
  expect(lines.filter((line) => line.endsWith("Forbidden"))).toEqual([
    expect.stringContaining("namespace refused ends"),
  ]);
  for (const name of ["refused", "alike", "missing", "failing", "strange"]) {
    expect(namespaces.takes(object(name, at - 1_000)), name).toBe(false);
  }
});

test("c71: a namespace that an answer has shown to be ending is asked for at once, once for all who were answered so", async (context) => {
  const answers = { ending: namespace("ending", {}) };
  const { namespaces, changed } = await ask(context, answers);
  let asked = 0;
  answers.ending = (call) => {
    asked++;
    namespace("ending", { deletionTimestamp: DELETED_AT })(call);
  };
  const { signal } = new AbortController();
  for (let i = 0; i < 16; i++) namespaces.hint("ending", signal);
  await until("it is known to end", () => namespaces.takes(object("ending", at - 1_000)));
  expect([asked, changed]).toEqual([1, ["ending"]]);
});

/** As an API server says of a namespace that there is none. */
const gone = (name: string) => (call: Call) =>
  call.answer(404, {
    ...status(404, "NotFound", `namespaces "${name}" not found`),
    details: { name, kind: "namespaces" },
  });

test("c57: a namespace that is not there takes what is declared in it at two looks, twenty seconds apart", async (context) => {
  const { namespaces, changed, look, shift } = await ask(context, {
    lost: gone("lost"),
    alive: namespace("alive", {}),
  });
  shift.ahead = 19_999;
  await look();
  expect(changed).toEqual([]);
  shift.ahead = 20_000;
  await look();
  expect(changed).toEqual(["lost"]);
  expect(namespaces.takes(object("lost", at))).toBe(true);
  expect(namespaces.isTerminating(object("lost", at)), "it is gone, and the log says what is not recorded there").toBe(
    false,
  );
  expect(namespaces.takes(object("alive", at))).toBe(false);
});

test("c57: a namespace that is back at the second look takes nothing, and a third one resets", async (context) => {
  const answers = { lost: gone("lost") };
  const { changed, look, shift } = await ask(context, answers);
  for (const [ahead, answer] of [
    [20_000, namespace("lost", {})],
    [40_000, gone("lost")],
    [59_999, gone("lost")],
  ] as const) {
    answers.lost = answer;
    shift.ahead = ahead;
    await look();
  }
  expect(changed).toEqual([]);
});

test("c57: namespaces that are gone with more than ten objects of twenty take nothing, and an alarm says so", async (context) => {
  const { changed, lines, look, shift } = await ask(
    context,
    { lost: gone("lost"), alive: namespace("alive", {}) },
    { declared: 11 },
  );
  shift.ahead = 60_000;
  await look();
  expect([changed, lines]).toEqual([[], [expect.stringContaining("none of them ends")]]);
});

test("c57: what another cluster says of a namespace ends nothing", async (context) => {
  const { changed, look, shift } = await ask(
    context,
    { lost: gone("lost"), ending: namespace("ending", { deletionTimestamp: DELETED_AT }) },
    { confirm: () => Promise.reject(new Error("another cluster")) },
  );
  shift.ahead = 60_000;
  await look();
  expect(changed).toEqual([]);
});
