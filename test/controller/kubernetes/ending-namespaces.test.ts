import { expect, type TestContext, test } from "vitest";
import { createEndingNamespaces } from "../../../controller/cluster/kubernetes/ending-namespaces.ts";
import type { DeclaredObject } from "../../../controller/cluster/port.ts";
import { until } from "../../env/until.ts";
import { type Call, startFakeApiServer, status } from "./fake-api-server.ts";

const DELETED_AT = "2026-01-01T00:00:00Z";
const at = Date.parse(DELETED_AT);
const object = (namespace: string, createdAt: number) => ({ namespace, createdAt }) as DeclaredObject;

/** Asks an API server that gives these answers, and resolves when each namespace was asked for. */
async function ask(context: TestContext, answers: Record<string, (call: Call) => void>) {
  const server = await startFakeApiServer((call) => answers[call.path.replace("/api/v1/namespaces/", "")]?.(call));
  const stop = new AbortController();
  const changed: string[] = [];
  const lines: string[] = [];
  const namespaces = createEndingNamespaces(
    server.api,
    () => new Set(Object.keys(answers)),
    (namespace) => changed.push(namespace),
    (_level, message) => lines.push(message),
  );
  const running = namespaces.run(stop.signal);
  context.onTestFinished(async () => {
    stop.abort();
    await running;
    await server.close();
  });
  await until("each was asked for", () => server.calls.length >= Object.keys(answers).length);
  return { namespaces, changed, lines };
}

const namespace = (name: string, more: object) => (call: Call) => call.answer(200, { metadata: { name, ...more } });

test("c57: a namespace that is being deleted takes what was declared in it until then, and nothing of its successor", async (context) => {
  const { namespaces, changed } = await ask(context, {
    alive: namespace("alive", {}),
    ending: namespace("ending", { deletionTimestamp: DELETED_AT }),
    last: namespace("last", {}),
  });
  await until("it was told of", () => changed.length > 0);
  expect(changed).toEqual(["ending"]);
  expect(namespaces.takes(object("ending", at - 1_000))).toBe(true);
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
  await until("all were asked for", () => changed.includes("ending"));
  expect(changed).toEqual(["ending"]);
  expect(lines.filter((line) => line.endsWith("Forbidden"))).toEqual([
    expect.stringContaining("namespace refused ends"),
  ]);
  for (const name of ["refused", "alike", "missing", "failing", "strange"]) {
    expect(namespaces.takes(object(name, at - 1_000)), name).toBe(false);
  }
});
