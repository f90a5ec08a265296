/** Every decision of spec §2 against a table written from its text: {@link statusBySpec}. */
import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { GATEWAY_OPERATIONS } from "../../../domain/access/gateway-operations.ts";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { OPERATIONS, type OperationName } from "../../../domain/access/operations.ts";
import { SCOPES, scopeSet } from "../../../domain/access/scopes.ts";
import { keyDigest, mintKey } from "../../../domain/key/secret/key-format.ts";
import { createMetrics } from "../../../processes/metrics.ts";
import { decide } from "../../../server/auth/decide.ts";
import { PROBLEMS } from "../../../server/http/problems/catalogue.ts";
import { KeyIndex } from "../../../server/key-index/key-index.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { gatewayRecord, indexedKey, keyRecord, testClock } from "../harness.ts";
import {
  type BindingName,
  CARRIER_NAMES,
  type CarrierName,
  type Case,
  GATEWAY_RULE,
  GRANTS,
  SCOPE_NAMES,
  type ScopeName,
  STATES,
  type StateName,
  statusBySpec,
  type TargetName,
} from "./spec-table.ts";

const clock = testClock();
const NOW = clock.now();

/** How each state of the table looks in the index; `unknown` is a key that is not there. */
const STATE_FIELDS: Readonly<Record<Exclude<StateName, "unknown">, Partial<KeyRecord>>> = {
  active: {},
  "reserved, its Secret is being written": { versionState: "reserved" },
  "retiring, before its deadline": { versionState: "retiring", expiresAt: NOW + 1 },
  "active, expires later": { expiresAt: NOW + 1 },
  "retiring, past its deadline": { versionState: "retiring", expiresAt: NOW },
  "expired this very moment": { expiresAt: NOW },
  "expired long ago": { expiresAt: NOW - 86_400_000 },
  "the version retired": { versionState: "retired" },
  "the version voided": { versionState: "voided" },
  "the version revoked": { versionState: "revoked" },
  "the key revoked": { state: "revoked" },
  "the key suspended": { state: "suspended" },
  "its namespace lost its team": { teamHoldsNamespace: false },
  "a state of a newer build": JSON.parse('{"versionState":"quarantined"}'),
};

/** Each of them serves all. */
const operations = [...new Set(Object.values(GATEWAY_OPERATIONS).map(({ kind }) => kind))];
const TARGETS = {
  "its team's": gatewayRecord({ publicId: "own", operations }),
  "its team's other": gatewayRecord({ publicId: "other", operations }),
  "another team's": gatewayRecord({ publicId: "foreign", teamId: "team-b", operations }),
  "a suspended": gatewayRecord({ publicId: "suspended", teamHoldsNamespace: false, operations }),
  no: undefined,
} satisfies Record<TargetName, unknown>;

const BINDINGS: Readonly<Record<BindingName, string | null>> = {
  unbound: null,
  bound: TARGETS["its team's"].gatewayId,
  "bound to nothing": "",
};

const EVERY_SCOPE_SET: readonly (readonly ScopeName[])[] = Array.from({ length: 2 ** SCOPE_NAMES.length }, (_, bits) =>
  SCOPE_NAMES.filter((_name, bit) => (bits & (1 << bit)) !== 0),
);
/** By day none, all, each alone and all but each; by night every one. */
const SOME_SCOPE_SETS = EVERY_SCOPE_SET.filter(
  ({ length }) => NIGHTLY || length <= 1 || length >= SCOPE_NAMES.length - 1,
);
const EVERY_STATE = Object.keys(STATES) as StateName[];
const EVERY_BINDING = Object.keys(GATEWAY_RULE) as BindingName[];
const EVERY_TARGET = Object.keys(TARGETS) as TargetName[];

/** Where each carrier puts a key: header lines, and the URL. */
const CARRY: Readonly<Record<CarrierName, (key: string) => { rawHeaders: string[]; url: string }>> = {
  "vendor header": (key) => ({ rawHeaders: ["x-goog-api-key", key], url: "/" }),
  "?key=": (key) => ({ rawHeaders: [], url: `/?alt=sse&key=${key}` }),
  Bearer: (key) => ({ rawHeaders: ["Authorization", `Bearer ${key}`], url: "/" }),
  "X-API-Key": (key) => ({ rawHeaders: ["X-API-Key", key], url: "/" }),
};

/** All keys of the table, each of them in it from when it is first asked about. */
const index = new KeyIndex();
for (const gateway of Object.values(TARGETS)) if (gateway) index.applyGateway(gateway);
const keys = new Map<string, string>();

/** The key that a case is about. */
function keyOf({ state, scopes, binding }: Case): string {
  const name = JSON.stringify([state, scopes, binding]);
  const known = keys.get(name);
  if (known !== undefined) return known;
  const key = mintKey(randomBytes);
  keys.set(name, key);
  if (state === "unknown") return key;
  const record = keyRecord({
    scopes: scopeSet(scopes),
    boundGatewayId: BINDINGS[binding],
    ...STATE_FIELDS[state],
  });
  index.applyKey(record.keyId, [indexedKey(keyDigest(key), record)]);
  return key;
}

/** The status that the server's own decision leads to. */
function statusOf(request: Case, carrier: CarrierName): number {
  const view = {
    isCurrent: () => request.current,
    lastSeq: () => 1,
    findKey: (wanted: string) => index.findKey(wanted),
    findGateway: (publicId: string) => index.findGateway(publicId),
    publicIdOf: (gatewayId: string) => index.publicIdOf(gatewayId),
    findPresent: (record: KeyRecord) => index.presentOf(record),
    findMember: () => [],
    acceptsImportedFormat: () => false,
    chargeRates: () => [],
    judgeRates: () => [],
    chargeUsed: () => {},
    refundRate: () => {},
  };
  const { rawHeaders, url } = CARRY[carrier](keyOf(request));
  const publicId = request.product === "gateway" ? (TARGETS[request.target]?.publicId ?? "nowhere") : undefined;
  const operation = request.operation as OperationName | undefined;
  const ask = { product: request.product, operation, publicId };
  const decision = decide(
    {
      ...{ index: view, clock, metrics, streams: { fullOf: () => undefined }, installationLimits: null },
      config: { vendorHeader: "x-goog-api-key", production: true, placeholders: [] },
    },
    rawHeaders,
    url,
    ask,
    { ip: undefined },
  );
  if (decision instanceof Promise) throw new Error("no key here has a limit of the installation");
  return decision.granted ? 200 : PROBLEMS[decision.code].status;
}
const metrics = createMetrics();

/** Compares many cases, and names the first few that differ: an assertion for each would drown them. */
function expectAll(cases: Iterable<[Case, CarrierName]>): number {
  const wrong: unknown[] = [];
  let count = 0;
  for (const [request, carrier] of cases) {
    count++;
    const [got, want] = [statusOf(request, carrier), statusBySpec(request)];
    if (got !== want && wrong.length < 5) wrong.push({ ...request, carrier, got, want });
  }
  expect(wrong).toEqual([]);
  return count;
}

const usable: Case = {
  current: true,
  state: "active",
  scopes: SCOPE_NAMES,
  operation: "atoms.list",
  product: "memory",
  binding: "unbound",
  target: "its team's",
};
const productOf = (operation: string): Case["product"] => {
  const [product] = operation.split(".");
  if (product === "scope") return "key";
  return product === "gateway" || product === "key" ? product : "memory";
};

test("the table of the spec and the code name the same operations and scopes", () => {
  expect(Object.keys(OPERATIONS).sort()).toEqual(Object.keys(GRANTS).sort());
  expect([...SCOPES]).toEqual([...SCOPE_NAMES]);
});

describe("every scope set × every operation × every carrier", () => {
  /** By day one carrier for each set, in turn. */
  const carriersOf = (i: number) =>
    NIGHTLY ? CARRIER_NAMES : CARRIER_NAMES.filter((_name, n) => n === i % CARRIER_NAMES.length);

  for (const operation of Object.keys(GRANTS)) {
    test(operation, () => {
      const cases = EVERY_SCOPE_SET.flatMap((scopes, i) =>
        carriersOf(i).map((carrier): [Case, CarrierName] => [
          { ...usable, scopes, operation, product: productOf(operation) },
          carrier,
        ]),
      );
      expect(expectAll(cases)).toBe(EVERY_SCOPE_SET.length * carriersOf(0).length);
    });
  }
});

describe("every key state × every operation × every carrier", () => {
  for (const state of EVERY_STATE) {
    test(`${state}: ${STATES[state]}`, () => {
      const cases = Object.keys(GRANTS).flatMap((operation) =>
        CARRIER_NAMES.map((carrier): [Case, CarrierName] => [
          { ...usable, state, operation, product: productOf(operation) },
          carrier,
        ]),
      );
      expect(expectAll(cases)).toBe(Object.keys(OPERATIONS).length * CARRIER_NAMES.length);
    });
  }
});

describe("every binding × every gateway named × every scope set, operation or none, and state", () => {
  for (const binding of EVERY_BINDING) {
    for (const target of EVERY_TARGET) {
      test(`a key that is ${binding}, on ${target} gateway`, () => {
        const cases = SOME_SCOPE_SETS.flatMap((scopes) =>
          ["gateway.chat_completions", "gateway.embeddings", "gateway.list_models", undefined].flatMap((operation) =>
            EVERY_STATE.map((state): [Case, CarrierName] => [
              { ...usable, binding, target, scopes, operation, state, product: "gateway" },
              "Bearer",
            ]),
          ),
        );
        expect(expectAll(cases)).toBe(SOME_SCOPE_SETS.length * 4 * EVERY_STATE.length);
      });
    }
  }
});

test("b47: the binding limits gateway traffic alone: every bound key with memory scopes reaches memory", () => {
  const cases = EVERY_BINDING.flatMap((binding) =>
    EVERY_SCOPE_SET.map((scopes): [Case, CarrierName] => [{ ...usable, binding, scopes }, "Bearer"]),
  );
  expectAll(cases);
});

test("every credential gets 503 while the index is not current, the valid and the unknown alike", () => {
  const cases = EVERY_STATE.flatMap((state) =>
    Object.keys(GRANTS).map((operation): [Case, CarrierName] => [
      { ...usable, current: false, state, operation, product: productOf(operation) },
      "Bearer",
    ]),
  );
  expectAll(cases);
});
