/** What a leader sends to the API server to take, renew and give back its Lease. */
import { expect, test } from "vitest";
import type { ApiClient } from "../../../../controller/cluster/kubernetes/api/api-client.ts";
import { ApiError } from "../../../../controller/cluster/kubernetes/api/api-error.ts";
import type { ApiRequest } from "../../../../controller/cluster/kubernetes/api/transport.ts";
import { createLeaseRecord } from "../../../../controller/cluster/kubernetes/lease-record.ts";
import { leaseResource } from "../../../../controller/cluster/kubernetes/resources.ts";

const NAME = "controller";
const LEFT = () => 13_000;
const NO_ANSWER = new ApiError(null, "", "no answer within 13000 ms");
const CONFLICT = new ApiError(409, "Conflict", "the object has been modified");
const NOT_FOUND = new ApiError(404, "NotFound", "there is none", { about: leaseResource(NAME) });

type Stored = { spec: Record<string, unknown>; version: number };

/** An API server with room for one Lease, as it keeps it: a write under another version than the present one fails. */
function startElection() {
  let stored: Stored | undefined;
  let version = 0;
  let steady = 0;
  const sent: string[] = [];
  /** What becomes of the next requests, one after the other: it is done or not, and then fails. */
  const failures: { readonly error: ApiError; readonly isDone: boolean }[] = [];
  const shown = ({ spec, version: resourceVersion }: Stored) => ({
    metadata: { name: NAME, resourceVersion: String(resourceVersion) },
    spec,
  });

  let refusesWrites = false;

  function carryOut({ method, body }: ApiRequest): unknown {
    if (method === "GET") {
      if (stored === undefined) throw NOT_FOUND;
      return shown(stored);
    }
    if (refusesWrites) throw CONFLICT;
    const { metadata, spec } = body as { metadata: { resourceVersion?: string }; spec: Stored["spec"] };
    if (method === "POST" ? stored !== undefined : String(stored?.version) !== metadata.resourceVersion) throw CONFLICT;
    stored = { spec, version: ++version };
    return shown(stored);
  }

  const api = {
    async request(request: ApiRequest) {
      sent.push(request.method);
      steady++;
      const failure = failures.shift();
      const answer = failure?.isDone === false ? undefined : carryOut(request);
      if (failure !== undefined) throw failure.error;
      return answer;
    },
    stream: () => expect.fail("an election watches nothing"),
    guardWrites: () => {},
    close: () => {},
  };
  const now = () => ({ wall: 1_000_000 + steady, steady });
  return {
    enter: (identity: string) =>
      createLeaseRecord({ api, namespace: "one", name: NAME, identity, served: ["a", "b"], now }),
    /** The methods that were sent since this was asked last. */
    requests: () => sent.splice(0).join(" "),
    fail: (error: ApiError, isDone: boolean) => void failures.push({ error, isDone }),
    refuseWrites: (is: boolean) => {
      refusesWrites = is;
    },
    edit: (spec: Record<string, unknown>) => {
      stored = { spec: { ...stored?.spec, ...spec }, version: ++version };
    },
    remove: () => {
      stored = undefined;
    },
    pass: (ms: number) => {
      steady += ms;
    },
    spec: () => stored?.spec,
  };
}

test("c67: a renewal is one write, under the version that was written last", async () => {
  const { enter, requests } = startElection();
  const record = enter("me");
  expect(await record.take(LEFT)).toEqual({ wall: 1_000_001, steady: 1 });
  expect(requests()).toBe("GET POST");
  for (let i = 0; i < 3; i++) expect(await record.take(LEFT)).toBeDefined();
  expect(requests()).toBe("PUT PUT PUT");
});

test("c67: a term counts from when the write was sent, and not from the look before it", async () => {
  const { enter, edit } = startElection();
  edit({ holderIdentity: "" });
  expect(await enter("me").take(LEFT)).toMatchObject({ steady: 1 });
});

test("c67: a renewal that another's write was quicker than looks whose the lease is now, and goes on where it is ours", async () => {
  const { enter, edit, requests, spec } = startElection();
  const record = enter("me");
  await record.take(LEFT);
  requests();
  edit({ strategy: "edited by a person" });
  expect(await record.take(LEFT)).toBeDefined();
  expect(requests()).toBe("PUT GET PUT");
  expect(spec()).toMatchObject({ holderIdentity: "me", leaseTransitions: 0 });
  edit({ holderIdentity: "another" });
  expect(await record.take(LEFT)).toBeUndefined();
  expect(requests()).toBe("PUT GET");
});

test("c67: a renewal of a lease that was deleted makes it anew", async () => {
  const { enter, remove, fail, requests, spec } = startElection();
  const record = enter("me");
  await record.take(LEFT);
  requests();
  remove();
  fail(NOT_FOUND, false);
  expect(await record.take(LEFT)).toBeDefined();
  expect(requests()).toBe("PUT GET POST");
  expect(spec()).toMatchObject({ holderIdentity: "me" });
});

test("c67: an attempt ends, and fails, where each of its writes is refused as a conflict", async () => {
  const { enter, refuseWrites, requests, spec } = startElection();
  const record = enter("me");
  refuseWrites(true);
  await expect(record.take(LEFT)).rejects.toBe(CONFLICT);
  expect(requests()).toBe(Array(5).fill("GET POST").join(" "));
  refuseWrites(false);
  expect(await record.take(LEFT)).toBeDefined();
  expect(spec()).toMatchObject({ holderIdentity: "me" });
});

test.each([
  ["has happened", true],
  ["has not happened", false],
])("c67: after a renewal without an answer, which %s, the next one looks first", async (_what, isDone) => {
  const { enter, fail, requests } = startElection();
  const record = enter("me");
  await record.take(LEFT);
  requests();
  fail(NO_ANSWER, isDone);
  await expect(record.take(LEFT)).rejects.toBe(NO_ANSWER);
  expect(await record.take(LEFT)).toBeDefined();
  expect(requests()).toBe("PUT GET PUT");
});

test("c21: another's lease is respected until it has not changed for its time", async () => {
  const { enter, pass } = startElection();
  const [first, second] = [enter("first"), enter("second")];
  await first.take(LEFT);
  expect(await second.take(LEFT)).toBeUndefined();
  expect(second.respectLeft()).toBe(14_000);
  pass(13_000);
  await first.take(LEFT);
  expect(await second.take(LEFT)).toBeUndefined();
  expect(second.respectLeft()).toBe(14_000);
  pass(13_990);
  expect(await second.take(LEFT)).toBeUndefined();
  pass(10);
  expect(await second.take(LEFT)).toBeDefined();
  expect(await first.take(LEFT)).toBeUndefined();
});

test("a lease is given back by one write, so that the next one need not wait", async () => {
  const { enter, edit, requests, spec } = startElection();
  const [first, second] = [enter("first"), enter("second")];
  await first.take(LEFT);
  await second.take(LEFT);
  requests();
  await first.release(LEFT);
  expect(requests()).toBe("PUT");
  expect(await second.take(LEFT)).toBeDefined();
  expect(spec()).toMatchObject({ holderIdentity: "second", leaseTransitions: 1 });
  edit({ holderIdentity: "third" });
  await second.release(LEFT);
  expect(spec()).toMatchObject({ holderIdentity: "third" });
});

test("c72: each write says whose the Lease is and what its leader serves, also of one that a version before made without that", async () => {
  const written: unknown[] = [];
  const api: ApiClient = {
    async request({ method, body }: ApiRequest) {
      if (method !== "GET") written.push((body as { metadata: unknown }).metadata);
      return { metadata: { name: NAME, resourceVersion: "7" }, spec: {} };
    },
    stream: () => expect.fail("an election watches nothing"),
    guardWrites: () => {},
    close: () => {},
  };
  const now = () => ({ wall: 1_000_000, steady: 0 });
  const options = { api, namespace: "one", name: NAME, identity: "me", now };
  await createLeaseRecord({ ...options, served: ["a", "b"] }).take(LEFT);
  await createLeaseRecord({ ...options, served: null }).take(LEFT);
  const labels = { "app.kubernetes.io/name": "keyplane", "app.kubernetes.io/component": "controller" };
  const metadata = { namespace: "one", name: NAME, resourceVersion: "7", labels };
  expect(written).toEqual([{ ...metadata, annotations: { "keyplane.dev/namespaces": "a,b" } }, metadata]);
});
