/** What becomes of an event that the API server refuses. */
import { expect, type TestContext, test } from "vitest";
import { createEvent } from "../../../../controller/cluster/kubernetes/events.ts";
import type { DeclaredObject } from "../../../../controller/cluster/port.ts";
import { startFakeApiServer, status } from "./fake-api-server.ts";

const KEY = { kind: "PlatformKey", namespace: "dev", name: "reader", uid: "uid-1", resourceVersion: "7" };

/** Records an event of a key at an API server that answers so. */
async function record(context: TestContext, code: number, body: object): Promise<boolean> {
  const server = await startFakeApiServer((call) => call.answer(code, body));
  context.onTestFinished(() => server.close());
  return createEvent(
    server.api,
    { now: 0, controller: "keyplane.dev/controller", instance: "test" },
    KEY as unknown as DeclaredObject,
    { type: "Normal", reason: "Revoked", message: "The key and all its versions are revoked (Deleted)." },
  );
}

test("c71: an event that its namespace takes no more, being deleted, is no failure", async (context) => {
  const details = { causes: [{ reason: "NamespaceTerminating", field: "metadata.namespace" }] };
  expect(await record(context, 403, { ...status(403, "Forbidden"), details })).toBe(false);
  expect(await record(context, 201, {})).toBe(true);
});

test("an event that is refused for another reason is a failure that says which", async (context) => {
  await expect(record(context, 403, status(403, "Forbidden", "no right to events"))).rejects.toThrow(
    "while recording Revoked of PlatformKey dev/reader: no right to events",
  );
});
