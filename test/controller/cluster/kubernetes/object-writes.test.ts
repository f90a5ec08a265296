import { describe, expect, it, type TestContext } from "vitest";
import { createObjectWrites } from "../../../../controller/cluster/kubernetes/object-writes.ts";
import { createStatusOwners } from "../../../../controller/cluster/kubernetes/status-owners.ts";
import { WatchedObjects } from "../../../../controller/cluster/kubernetes/watch/objects.ts";
import { readDeclaredObject } from "../../../../controller/cluster/kubernetes/watch/read-object.ts";
import { type DeclaredObject, FINALIZER } from "../../../../controller/cluster/port.ts";
import { type Call, clock, startFakeApiServer, status } from "./fake-api-server.ts";

const raw = (resourceVersion: string) => ({
  metadata: { name: "reader", namespace: "dev", uid: "uid-1", generation: 1, resourceVersion },
  spec: { preset: "MCPReadOnly" },
});

const ALONE = createStatusOwners({ name: undefined, serves: () => true, clock, log: () => {} });

async function writing(context: TestContext, patched: (call: Call, count: number) => void, shown: object = raw("1")) {
  let patches = 0;
  const fake = await startFakeApiServer((call, count) => {
    if (call.method === "PATCH") return patched(call, ++patches);
    call.answer(200, raw(String(100 + count)));
  });
  context.onTestFinished(() => fake.close());
  const objects = new WatchedObjects(() => {});
  const held = readDeclaredObject("PlatformKey", shown);
  objects.sink("PlatformKey", "").replace([held], "1");
  const writes = createObjectWrites(fake.api, objects, ALONE, "test");
  return { fake, writes, object: held.object as DeclaredObject<"PlatformKey">, patches: () => patches };
}

describe.concurrent("a write to an object", () => {
  it("c8: is made again from the fresh object when it was outrun", async (context) => {
    const { fake, writes, object } = await writing(context, (call, count) =>
      count < 3 ? call.answer(409, status(409, "Conflict")) : call.answer(200, raw("200")),
    );
    await writes.writeStatus(object, { team: "t" });
    const versions = fake.calls.filter(({ method }) => method === "PATCH").map(({ body }) => body);
    expect(versions).toHaveLength(3);
    expect(versions[2]).toEqual([
      { op: "add", path: "/metadata/uid", value: "uid-1" },
      { op: "add", path: "/metadata/resourceVersion", value: "104" },
      { op: "add", path: "/status", value: { team: "t" } },
    ]);
  });

  it("c8: is left to the queue's back-off when it is outrun for ever", async (context) => {
    const { writes, object, patches } = await writing(context, (call) => call.answer(409, status(409, "Conflict")));
    await expect(writes.writeStatus(object, { team: "t" })).rejects.toMatchObject({ code: "Conflict" });
    expect(patches()).toBe(5);
  });

  it("is written again after one that failed", async (context) => {
    const { writes, object, patches } = await writing(context, (call, count) =>
      count === 1 ? call.cut() : call.answer(200, raw("200")),
    );
    await expect(writes.writeStatus(object, { team: "t" })).rejects.toMatchObject({ code: "Unclear" });
    await writes.writeStatus(object, { team: "t" });
    expect(patches()).toBe(2);
  });

  it("c70: is not made where the status says the same already, whichever controller has written that", async (context) => {
    const shown = { ...raw("1"), status: { team: "t", controllerName: "one/other" } };
    const { writes, object, patches } = await writing(context, (call) => call.answer(200, raw("200")), shown);
    await writes.writeStatus(object, { team: "t" });
    expect(patches()).toBe(0);
    await writes.writeStatus(object, { team: "other" });
    expect(patches()).toBe(1);
  });

  it("b246: takes our finalizer off, and no other one, however many there are", async (context) => {
    const others = Array.from({ length: 100 }, (_, n) => `example.com/finalizer-${n}`);
    const shown = { ...raw("1"), metadata: { ...raw("1").metadata, finalizers: [...others, FINALIZER] } };
    const fake = await startFakeApiServer((call) => call.answer(200, shown));
    context.onTestFinished(() => fake.close());
    const objects = new WatchedObjects(() => {});
    const held = readDeclaredObject("PlatformKey", shown);
    await objects.sink("PlatformKey", "").replace([held], "1");
    await createObjectWrites(fake.api, objects, ALONE, "test").removeFinalizer(held.object);
    expect(fake.calls.at(-1)?.body).toContainEqual({ op: "add", path: "/metadata/finalizers", value: others });
  });

  it("c48: ends quietly where another object has the name by now, which is known from then on", async (context) => {
    const successor = { ...raw("300"), metadata: { ...raw("300").metadata, uid: "uid-2" } };
    const fake = await startFakeApiServer((call) =>
      call.method === "PATCH" ? call.answer(409, status(409, "Conflict")) : call.answer(200, successor),
    );
    context.onTestFinished(() => fake.close());
    const objects = new WatchedObjects(() => {});
    const { object } = readDeclaredObject("PlatformKey", raw("1"));
    await objects.sink("PlatformKey", "").replace([readDeclaredObject("PlatformKey", raw("1"))], "1");
    await createObjectWrites(fake.api, objects, ALONE, "test").writeStatus(object, { team: "t" });
    expect(objects.get("PlatformKey", "dev", "reader")?.uid).toBe("uid-2");
  });

  it("c48: fails, and forgets nothing, where a 404 does not name the object", async (context) => {
    const { writes, object, patches } = await writing(context, (call) => call.answer(404, {}));
    await expect(writes.writeStatus(object, { team: "t" })).rejects.toThrow("while writing the status of");
    await expect(writes.writeStatus(object, { team: "t" })).rejects.toThrow("while writing the status of");
    expect(patches(), "it is still known").toBe(2);
  });
});
