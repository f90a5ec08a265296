/** Holds the description to the server: every operation is called, and made to refuse in every way that it says. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { GATEWAY_OPERATIONS } from "../../../domain/access/gateway-operations.ts";
import { products } from "../../../processes/products.ts";
import { SERVED_PATHS } from "../../../server/gateway/classify.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { until } from "../../env/until.ts";
import { unique } from "../../store/fixtures.ts";
import { startHarness } from "../harness.ts";
import { CALLS } from "./calls.ts";
import { type Call, codeOf, codesOf, type Described, descriptionOf, send } from "./described.ts";
import { provoke } from "./provoke.ts";
import { startWorld, type World } from "./world.ts";

/** The same for everybody: of a server that asks no database. */
const { document, operations, judge } = await (async () => {
  const harness = await startHarness({ mounts: products() });
  const text = await (await fetch(`${harness.url}/openapi.json`)).text();
  await harness.close();
  return descriptionOf(text);
})();

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.close());

/** Of these all calls wait at the same time: for an upstream that says nothing, and for a body that does not come. */
const WAITED_FOR = ["gateway_timeout", "request_timeout"];
/** What could be wrong with any request: an operation that is not said to refuse it takes it. */
const AT_THE_DOOR = [
  ...["unauthorized", "forbidden", "forbidden_origin", "rate_limited", "expectation_failed", "invalid_request"],
  ...["payload_too_large", "unsupported_media_type", "not_found", "uri_too_long", "internal", "unavailable"],
];

/** What refuses a call before its operation begins, at every operation alike. */
const BEFORE_OPERATION = [
  ...["unauthorized", "forbidden", "forbidden_origin", "rate_limited", "expectation_failed", "payload_too_large"],
  ...["unsupported_media_type", "uri_too_long"],
];

/** What the table of the gateway's operations says of how a path's calls are read. */
const READ_AS: ReadonlyMap<string, object> = new Map(
  SERVED_PATHS.map(({ method, path, operation }) => {
    const { body, models, answer } = GATEWAY_OPERATIONS[operation];
    return [`${method} /g/{publicId}/${path}`, { body, models, answer }] as const;
  }),
);

/** Operations that are described alike: of one area and method, with bodies of the same types and the same refusals. */
function kindOf({ name, method, operation: { tags, requestBody, responses } }: Described): string {
  const refusals = Object.entries(responses).filter(([status]) => !status.startsWith("2"));
  return JSON.stringify([tags, method, Object.keys(requestBody?.content ?? {}), refusals, READ_AS.get(name)]);
}

/** The first of each kind: it is asked for everything by day too. */
const firsts = new Set([...Map.groupBy(operations, kindOf).values()].map(([first]) => first));

/** Whether an operation is made to refuse with a code: what many share with their code is asked of one of them by day. */
function isAsked(one: Described, code: string): boolean {
  return NIGHTLY || firsts.has(one) || !(READ_AS.has(one.name) || BEFORE_OPERATION.includes(code));
}

/** Where the memory is once more, by the same routes: what refuses a call there is what refuses it at the root. */
const AGAIN = "/api/v1/memory";
const again = operations.filter(({ path }) => path.startsWith(`${AGAIN}/atoms`));

test("the memory's operations are described alike at either of their paths", () => {
  expect(again.length).toBeGreaterThan(10);
  for (const { path, method, operation } of again) {
    const there = document.paths[path.slice(AGAIN.length)]?.[method.toLowerCase()];
    expect({ ...operation, operationId: there?.operationId }).toEqual(there);
  }
});

test.for(again.map((one) => [one.name, one] as const))("%s answers as it is described", async ([, one]) => {
  const answer = await send(world.url, await callOf(one).valid(world));
  expect(answer.status).toBeLessThan(300);
  expect(judge.faultsOf(one, answer)).toEqual([]);
});

const refusing = NIGHTLY ? operations : operations.filter((one) => !again.includes(one));

test.for(refusing.map((one) => [one.name, one] as const))("%s refuses as it is described", async ([name, one]) => {
  const calls = callOf(one);
  const codes = codesOf(one.operation);
  expect(Object.keys(calls.refused ?? {}).filter((code) => !codes.includes(code))).toEqual([]);
  const valid = await calls.valid(world);
  for (const code of codes) {
    if (WAITED_FOR.includes(code) || !isAsked(one, code)) continue;
    const answer = await provoke(world, one, code, calls, valid);
    expect.soft([name, code, judge.faultsOf(one, answer)], answer.text).toEqual([name, code, []]);
    expect.soft([name, code, isOf(one, code, answer.status)], answer.text).toEqual([name, code, true]);
    const shown = codeOf(answer.text) ?? code;
    expect.soft([name, shown]).toEqual([name, code]);
  }
  for (const code of AT_THE_DOOR.filter((each) => !codes.includes(each) && isAsked(one, each))) {
    // What was taken may not be there for another call.
    const unspent = one.method === "GET" ? valid : await calls.valid(world);
    const answer = await provoke(world, one, code, calls, unspent);
    expect.soft([name, code, judge.faultsOf(one, answer)], answer.text).toEqual([name, code, []]);
  }
  const answer = await send(world.url, valid);
  expect(Object.keys(one.operation.responses).filter((status) => status.startsWith("2"))).toContain(`${answer.status}`);
  expect(judge.faultsOf(one, answer)).toEqual([]);
});

test("what a manifest declares, and what is revoked, is shown as it is described", async () => {
  const keys = [await world.declareKey({ versions: 3 }), await world.declareKey({ isOrphan: true })];
  await world.manage("POST", `/keys/${keys[1]}/revoke`);
  const shown = {
    keys,
    teams: [world.team.teamId],
    libraries: [await world.declareLibrary("declared")],
    gateways: [await world.declareGateway()],
  };
  for (const [path, ids] of Object.entries(shown)) {
    for (const id of ids) {
      const one = operations.find(({ name }) => name === `GET /api/v1/${path}/{id}`);
      if (one === undefined) throw new Error(`nothing reads one of the ${path}`);
      const { headers, method } = await callOf(one).valid(world);
      const answer = await send(world.url, { method, headers, path: `/api/v1/${path}/${id}` });
      expect.soft([path, answer.status, judge.faultsOf(one, answer)], answer.text).toEqual([path, 200, []]);
    }
  }
});

const repeatable = operations.filter(({ operation }) => operation.responses[200]?.headers?.["Idempotency-Replayed"]);

test("b119: the saves of the memory are those that are answered otherwise where they are repeated", () => {
  const names = repeatable.map(({ name }) => name).sort();
  const paths = ["/api/v1/memory/atoms", "/atoms"].flatMap((at) => [at, `${at}/batch`, `${at}/import`]);
  expect(names).toEqual(paths.map((path) => `POST ${path}`));
});

test.for(repeatable.map((one) => [one.name, one] as const))(
  "b119: %s is repeated as it is described",
  async ([, one]) => {
    const call = await callOf(one).valid(world);
    const repeated = { ...call, headers: { ...call.headers, "idempotency-key": unique("once") } };
    expect((await send(world.url, repeated)).status).toBe(201);
    const again = await send(world.url, repeated);
    expect([again.status, judge.faultsOf(one, again)]).toEqual([200, []]);
  },
);

test("a body that does not come is answered as it is described, by every operation that says so", async () => {
  const slow = describedWith("request_timeout");
  const calls: (readonly [Described, Call])[] = [];
  for (const one of slow) calls.push([one, await callOf(one).valid(world)]);
  let answered = 0;
  const waiting = calls.map(async ([one, { body: _, headers, ...call }]) => {
    const json = { "content-type": "application/json", ...headers };
    const answer = await send(world.url, { ...call, headers: json, announced: 10 });
    answered++;
    return [one, answer] as const;
  });
  let later = world.harness.clock.monotonic();
  await until("no call waits any more", () => {
    later += 60_000;
    world.harness.streams.cutSlowBodies(later);
    return answered === slow.length;
  });
  for (const [one, answer] of await Promise.all(waiting)) {
    expect.soft([one.name, answer.status, judge.faultsOf(one, answer)]).toEqual([one.name, 408, []]);
  }
});

test("an upstream that says nothing is answered for as it is described, by every operation that says so", async () => {
  const slow = describedWith("gateway_timeout");
  const answers = slow.map(async (one) => {
    const call = await callOf(one).refused?.gateway_timeout?.(world);
    if (call === undefined) throw new Error(`${one.name} has no call that waits`);
    return [one, await send(world.url, call)] as const;
  });
  for (const [one, answer] of await Promise.all(answers)) {
    expect.soft([one.name, answer.status, judge.faultsOf(one, answer)]).toEqual([one.name, 504, []]);
  }
});

function describedWith(code: string): Described[] {
  return operations.filter((one) => codesOf(one.operation).includes(code) && isAsked(one, code));
}

function callOf({ name }: Described) {
  const calls = CALLS[name];
  if (calls === undefined) throw new Error(`test/server/openapi/calls.ts has no call of ${name}: add one`);
  return calls;
}

function isOf({ operation }: Described, code: string, status: number): boolean {
  return operation.responses[status]?.["x-problem-codes"]?.includes(code) ?? false;
}
