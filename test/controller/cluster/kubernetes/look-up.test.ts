/** What counts as gone when the API server is asked for one object by name. */
import { expect, type TestContext, test } from "vitest";
import { readClusterIdentity } from "../../../../controller/cluster/kubernetes/identity.ts";
import { createLookUp, type LookUpTarget } from "../../../../controller/cluster/kubernetes/look-up.ts";
import { objectPath, objectResource } from "../../../../controller/cluster/kubernetes/resources.ts";
import { type Call, clock, startFakeApiServer, status } from "./fake-api-server.ts";

const NAMED = { name: "reader", group: "keyplane.dev", kind: "platformkeys" };
const notFound = (details?: object) => ({ ...status(404, "NotFound"), ...(details === undefined ? {} : { details }) });
const REF = { kind: "PlatformKey", namespace: "dev", name: "reader" } as const;
const WANTED: LookUpTarget = { ...objectResource(REF), path: objectPath(REF), uid: "uid-1" };
const kubeSystem = (uid: string) => ({ metadata: { name: "kube-system", uid } });

/** A question to a server that answers as given, and whose cluster is another one after so many answers. */
async function asking(context: TestContext, answer: (call: Call) => void, clusterUid = (_count: number) => "one") {
  let identities = 0;
  const fake = await startFakeApiServer((call) => {
    if (call.path.endsWith("/kube-system")) call.answer(200, kubeSystem(clusterUid(identities++)));
    else answer(call);
  });
  context.onTestFinished(() => fake.close());
  const identity = await readClusterIdentity(fake.api, (_level, line) => fake.lines.push(line));
  const lookUp = createLookUp(fake.api, identity, clock);
  const { signal } = new AbortController();
  return { fake, identity, presence: async (wanted = WANTED) => (await lookUp(wanted, signal)).presence };
}

test.for<[string, number, unknown]>([
  ["a 404 of a kind that is not served", 404, notFound({})],
  ["a 404 without details", 404, notFound()],
  ["a 404 that names another object", 404, notFound({ ...NAMED, name: "other" })],
  ["a 404 that names another kind", 404, notFound({ ...NAMED, kind: "platformteams" })],
  ["a 404 that names another group", 404, notFound({ ...NAMED, group: "example.com" })],
  ["a 404 that names its namespace", 404, notFound({ name: "dev", kind: "namespaces" })],
  ["a proxy's 404", 404, { error: "not found", details: NAMED }],
  ["a 404 of another reason", 404, { ...notFound(NAMED), reason: "Expired" }],
  ["a 404 of something that is no Status", 404, { ...notFound(NAMED), kind: "Error" }],
  ["a 410", 410, { ...status(410, "NotFound"), details: NAMED }],
  ["a refusal", 403, { ...status(403, "Forbidden"), details: NAMED }],
  ["a server that is busy", 429, { ...status(429, "TooManyRequests"), details: NAMED }],
  ["a failure", 500, { ...status(500, "InternalError"), details: NAMED }],
  ["a server that is not ready", 503, { ...status(503, "NotFound"), details: NAMED }],
  ["a gateway that hands a NotFound on as its own failure", 502, notFound(NAMED)],
  ["another object", 200, { metadata: { name: "other", uid: "uid-2" } }],
  ["a list", 200, { metadata: { resourceVersion: "7" }, items: [] }],
  ["an object without a uid", 200, { metadata: { name: "reader" } }],
  ["an object with an empty uid", 200, { metadata: { name: "reader", uid: "" } }],
  ["a NotFound that says 200", 200, notFound(NAMED)],
])("c48: %s says nothing of an object, and it is asked for once", async ([_what, code, body], context) => {
  const { fake, presence } = await asking(context, (call) => call.answer(code, body));
  expect(await presence()).toBe("unknown");
  expect(fake.calls.filter(({ path }) => path === WANTED.path)).toHaveLength(1);
});

test("c48: an object that the API server names as not there is gone, as is one whose name is another's", async (context) => {
  const { presence } = await asking(context, (call) => call.answer(404, notFound(NAMED)));
  expect(await presence()).toBe("gone");
  const other = await asking(context, (call) => call.answer(200, { metadata: { name: "reader", uid: "uid-2" } }));
  expect(await other.presence()).toBe("gone");
  expect(await other.presence({ ...WANTED, uid: "uid-2" })).toBe("present");
  expect(await other.presence({ ...WANTED, uid: null })).toBe("present");
});

test("c48: an object is asked for without a resourceVersion, so that no cache answers", async (context) => {
  const { fake, presence } = await asking(context, (call) => call.answer(404, notFound(NAMED)));
  await presence();
  const [call] = fake.calls.filter(({ path }) => path === WANTED.path);
  expect([call?.method, [...(call?.query ?? [])]]).toEqual(["GET", []]);
});

test("c48: a connection that is cut says nothing", async (context) => {
  const { presence } = await asking(context, (call) => call.cut());
  expect(await presence()).toBe("unknown");
});

test("c48: another cluster's answer is not believed, and that is said until the first one answers again", async (context) => {
  const gone = (call: Call) => call.answer(404, notFound(NAMED));
  const { fake, identity, presence } = await asking(context, gone, (count) => (count % 3 === 0 ? "one" : "two"));
  expect([await presence(), identity.isReplaced()]).toEqual(["unknown", true]);
  expect([await presence(), identity.isReplaced()]).toEqual(["unknown", true]);
  expect([await presence(), identity.isReplaced()]).toEqual(["gone", false]);
  expect(fake.lines).toEqual([
    expect.stringMatching(/^the API server is another cluster's \(kube-system has the uid two\) than .*nothing/),
    "the API server is that of the cluster one again",
  ]);
});

test("c48: a cluster that does not say which one it is is not believed", async (context) => {
  let isClosed = false;
  const fake = await startFakeApiServer((call) => {
    if (!call.path.endsWith("/kube-system")) call.answer(404, notFound(NAMED));
    else if (isClosed) call.answer(403, status(403, "Forbidden"));
    else call.answer(200, kubeSystem("one"));
  });
  context.onTestFinished(() => fake.close());
  const identity = await readClusterIdentity(fake.api, () => {});
  const lookUp = createLookUp(fake.api, identity, clock);
  isClosed = true;
  expect((await lookUp(WANTED, new AbortController().signal)).presence).toBe("unknown");
  expect(identity.isReplaced()).toBe(false);
});

test("c48: the cluster is asked who it is after its answers, once for all who wait for them", async (context) => {
  const { fake, identity } = await asking(context, () => {});
  const before = fake.calls.length;
  await Promise.all(Array.from({ length: 20 }, () => identity.confirm()));
  expect(fake.calls.length - before).toBe(1);
  const running = identity.confirm();
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([running, identity.confirm()]);
  expect(fake.calls.length - before).toBe(3);
});

test("c48: no more than ten objects are asked for in a second", async (context) => {
  const { fake, identity } = await asking(context, (call) => call.answer(500, {}));
  const lookUp = createLookUp(fake.api, identity, clock);
  const { signal } = new AbortController();
  const sentAt: number[] = [];
  const asked = performance.now();
  await Promise.all(
    Array.from({ length: 13 }, async () => {
      await lookUp(WANTED, signal);
      sentAt.push(performance.now() - asked);
    }),
  );
  // A timer may be a millisecond early.
  expect(sentAt.at(-1)).toBeGreaterThan(1_190);
  expect(sentAt.filter((at) => at < 990).length).toBeLessThanOrEqual(10);
});

test("c48: questions that wait for their turn end with the signal", async (context) => {
  const { fake, identity } = await asking(context, (call) => call.answer(404, notFound(NAMED)));
  const lookUp = createLookUp(fake.api, identity, clock);
  const stop = new AbortController();
  const answers = Promise.all(Array.from({ length: 1_000 }, () => lookUp(WANTED, stop.signal)));
  stop.abort();
  expect((await answers).every(({ presence }) => presence === "unknown")).toBe(true);
});
