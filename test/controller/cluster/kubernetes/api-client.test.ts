import { writeFile } from "node:fs/promises";
import { describe, expect, it, type TestContext } from "vitest";
import { createSecrets } from "../../../../controller/cluster/kubernetes/secrets/secrets.ts";
import { ClusterError } from "../../../../controller/cluster/port.ts";
import { type Call, configOf, startFakeApiServer, status } from "./fake-api-server.ts";

const PLAINTEXT = "inf_plaintext-that-stays-secret";
const DRAFT = {
  namespace: "dev",
  name: "reader",
  data: { "api-key": PLAINTEXT },
  labels: {},
  annotations: {},
  owner: null,
};

const NO_NEWS = { seen: () => {}, forbidden: () => {}, writing: () => () => {} };

async function talking(context: TestContext, handle: (call: Call, count: number) => void) {
  const fake = await startFakeApiServer(handle);
  context.onTestFinished(() => fake.close());
  const secrets = createSecrets(fake.api, "test", NO_NEWS);
  /** How creating a Secret fails. */
  const failure = async (): Promise<ClusterError> =>
    secrets.create(DRAFT).then(
      () => expect.fail("it was created"),
      (error: ClusterError) => error,
    );
  return { fake, secrets, failure };
}

describe.concurrent("a request to the API server", () => {
  it("is repeated as late as a busy server asks", async (context) => {
    const { fake } = await talking(context, (call, count) =>
      count === 1
        ? call.answer(429, status(429, "TooManyRequests"), { "retry-after": "1" })
        : call.answer(200, { done: true }),
    );
    const startedAt = performance.now();
    expect(await fake.api.request({ method: "POST", path: "/things", body: {} })).toEqual({ done: true });
    expect(performance.now() - startedAt).toBeGreaterThan(990);
    expect(fake.calls).toHaveLength(2);
  });

  it("reads the credentials again when they are refused", async (context) => {
    const { fake } = await talking(context, async (call, count) => {
      if (count > 1) return call.answer(200, {});
      await writeFile(fake.kubeconfig, JSON.stringify(configOf(`http://${call.headers.host}`, "second-token")));
      call.answer(401, status(401, "Unauthorized"));
    });
    await fake.api.request({ method: "GET", path: "/things" });
    expect(fake.calls.map(({ headers }) => headers.authorization)).toEqual([
      "Bearer first-token",
      "Bearer second-token",
    ]);
  });

  it.each([
    [409, "AlreadyExists", "AlreadyExists"],
    [409, "Conflict", "Conflict"],
    [404, "NotFound", "NotFound"],
    [403, "Forbidden", "Forbidden"],
    [500, "InternalError", "Unclear"],
    [504, "Timeout", "Unclear"],
  ])("c5: a write that is answered with %i %s is %s", async (code, reason, expected) => {
    const fake = await startFakeApiServer((call) => call.answer(code, status(code, reason)));
    const write = createSecrets(fake.api, "test", NO_NEWS).create(DRAFT);
    await expect(write).rejects.toMatchObject({ name: "ClusterError", code: expected });
    await fake.close();
  });

  it("c6: a write whose answer is lost is unclear, and is not repeated by itself", async (context) => {
    const { fake, failure } = await talking(context, (call) => call.cut());
    expect((await failure()).code).toBe("Unclear");
    expect(fake.calls).toHaveLength(1);
  });

  it("c6: a write whose answer is no JSON is unclear", async (context) => {
    const { failure } = await talking(context, (call) => {
      call.raw("<html>a proxy</html>");
      call.end();
    });
    expect((await failure()).code).toBe("Unclear");
  });

  it("c6: a write without an answer is unclear in the end", async (context) => {
    const { fake } = await talking(context, () => {});
    const write = fake.api.request({ method: "POST", path: "/things", body: {}, timeoutMs: 200 });
    await expect(write).rejects.toMatchObject({ status: null });
  });

  it("b470: a Secret of which only the owner changes keeps the bytes of all its data, also those that are no text", async (context) => {
    const read = {
      ...{ metadata: { namespace: "dev", name: "reader", uid: "u", resourceVersion: "1" }, type: "Opaque" },
      ...{ immutable: true, data: { "api-key": btoa(PLAINTEXT), logo: "/9j/4AAQ", empty: "" } },
    };
    const { fake, secrets } = await talking(context, (call) => call.answer(200, read));
    const secret = (await secrets.read("dev", "reader")) ?? expect.fail("there is none");
    await secrets.replace(secret, { ...secret, owner: null });
    expect(fake.calls[1]?.body).toMatchObject({ data: read.data });
  });

  it("b74: what a webhook says of a refused Secret is not passed on", async (context) => {
    const { failure } = await talking(context, (call) =>
      call.answer(403, status(403, "Forbidden", `admission webhook denied: ${JSON.stringify(call.body)} ${PLAINTEXT}`)),
    );
    const error = await failure();
    expect(error.code).toBe("Forbidden");
    expect(error.message).not.toContain("inf_");
    expect(error.message).not.toContain(Buffer.from(PLAINTEXT).toString("base64"));
    expect(error.cause).toBeUndefined();
  });

  it.each([
    [403, "Forbidden"],
    [404, "NotFound"],
    [409, "Conflict"],
    [500, "InternalError"],
    [422, `because of ${PLAINTEXT}`],
  ])("c68: a webhook that refuses with %i %s is named, and what it says is not passed on", async (code, reason) => {
    const message = `admission webhook "keys.example.com" denied the request: ${PLAINTEXT}`;
    const fake = await startFakeApiServer((call) =>
      call.answer(code, status(code, reason, message), { warning: `299 - "${btoa(PLAINTEXT)}"` }),
    );
    const error: unknown = await createSecrets(fake.api, "test", NO_NEWS)
      .create(DRAFT)
      .catch((thrown) => thrown);
    expect(error).toEqual(
      new ClusterError(
        "Refused",
        'while creating Secret dev/reader: admission webhook "keys.example.com" denied the request',
      ),
    );
    expect(fake.lines).toEqual([]);
    await fake.close();
  });

  it("c68: a reason that is no word of Kubernetes is not passed on", async (context) => {
    const { failure } = await talking(context, (call) => call.answer(403, status(403, PLAINTEXT, "denied")));
    expect((await failure()).message).toBe("while creating Secret dev/reader: the API server answered 403");
  });

  it("says which right is missing", async (context) => {
    const missing =
      'secrets is forbidden: User "keyplane" cannot create resource "secrets" in API group "" in the namespace "dev"';
    const { failure } = await talking(context, (call) => call.answer(403, status(403, "Forbidden", missing)));
    expect((await failure()).message).toContain(missing);
  });

  it("passes a warning of the server on once", async (context) => {
    const { fake } = await talking(context, (call) =>
      call.answer(200, {}, { warning: '299 - "unknown field \\"status.x\\""' }),
    );
    await fake.api.request({ method: "PATCH", path: "/things", body: [] });
    await fake.api.request({ method: "PATCH", path: "/things", body: [] });
    expect(fake.lines).toHaveLength(1);
  });

  it("c22: sends no write once the leadership is over, whatever time it took to get there", async (context) => {
    const { fake, failure } = await talking(context, (call) => call.answer(200, {}));
    fake.api.guardWrites(() => false);
    expect((await failure()).message).toContain("does not lead");
    expect(fake.calls).toHaveLength(0);
    await fake.api.request({ method: "GET", path: "/things" });
  });

  it("c67: of an election waits for no connection behind what is slow", async (context) => {
    let isSlow = true;
    const { fake } = await talking(context, (call) => {
      if (call.path === "/lease" || !isSlow) call.answer(200, {});
    });
    const slow = Array.from({ length: 100 }, () => fake.api.request({ method: "GET", path: "/things" }));
    await fake.api.request({ method: "PUT", path: "/lease", body: {}, isElection: true });
    expect(fake.calls.at(-1)?.path).toBe("/lease");
    isSlow = false;
    for (const call of fake.calls.slice(0, -1)) call.answer(200, {});
    await Promise.all(slow);
  });

  it("is one of many on few connections", async (context) => {
    let most = 0;
    const { fake } = await talking(context, (call) => {
      most = Math.max(most, fake.calls.filter((one) => one.isOpen()).length);
      setImmediate(() => call.answer(200, {}));
    });
    await Promise.all(Array.from({ length: 300 }, () => fake.api.request({ method: "GET", path: "/things" })));
    expect(fake.calls).toHaveLength(300);
    expect(fake.connections()).toBeLessThanOrEqual(32);
  });
});
