import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type AccessRequest, authorize, neededScopes, permits } from "../../../domain/access/authorize.ts";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { unusableBecause } from "../../../domain/access/key-state.ts";
import { OPERATIONS, type OperationName } from "../../../domain/access/operations.ts";
import { productScopes, SCOPES, scopeBit, scopeSet } from "../../../domain/access/scopes.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { keyRecord } from "../../server/harness.ts";
import { NOW, stateOf } from "../rule-table.ts";
import { ACCESS_RULES, recordOf } from "./authorize.rows.ts";

const operations = Object.keys(OPERATIONS) as OperationName[];

const CLIENT = { ip: "203.0.113.7" };

const key: fc.Arbitrary<KeyRecord> = fc
  .record({
    teamId: fc.constantFrom("a", "b"),
    teamHoldsNamespace: fc.boolean(),
    state: fc.constantFrom("active", "suspended", "revoked"),
    versionState: fc.constantFrom("reserved", "active", "retiring", "retired", "voided", "revoked"),
    expiresAt: fc.constantFrom(NOW - 1, NOW, NOW + 1, Number.POSITIVE_INFINITY),
    scopes: fc.integer({ min: 0, max: 2 ** SCOPES.length - 1 }),
    boundGatewayId: fc.constantFrom(null, "", "g1", "g2"),
  } as const)
  .map((fields) => keyRecord(fields));
// No gateway has the empty id: a key bound to it is bound to one that is gone.
const gateway = fc.option(fc.record({ gatewayId: fc.constantFrom("g1", "g2"), teamId: fc.constantFrom("a", "b") }), {
  nil: undefined,
});
const accessRequest: fc.Arbitrary<AccessRequest> = fc.oneof(
  fc.record({
    product: fc.constant("memory" as const),
    operation: fc.constantFrom(...operations.filter((name) => OPERATIONS[name].product === "memory")),
  }),
  fc.record({
    product: fc.constant("gateway" as const),
    operation: fc.constantFrom(undefined, ...operations.filter((name) => OPERATIONS[name].product === "gateway")),
    gateway,
  }),
);

describe.each(ACCESS_RULES.tables)("$decision", ({ rows }) => {
  it.each(rows)("$rule", (row) => {
    const state = stateOf(ACCESS_RULES, row);
    expect(authorize(recordOf(state), state.request, NOW, state.client) ?? "allowed").toEqual(row.outcome);
  });
});

test("nothing passes that is not usable, of the team, within its binding and its scopes", () => {
  fc.assert(
    fc.property(key, accessRequest, (record, asked) => {
      fc.pre(authorize(record, asked, NOW, CLIENT) === undefined);
      expect(unusableBecause(record, NOW)).toBeUndefined();
      expect(asked.operation !== undefined && permits(record, asked.operation)).toBe(true);
      if (asked.product !== "gateway") return;
      expect(asked.gateway?.teamId).toBe(record.teamId);
      if (record.boundGatewayId !== null) expect(asked.gateway?.gatewayId).toBe(record.boundGatewayId);
    }),
    // About one in a hundred passes.
    { numRuns: NIGHTLY ? 20_000 : 200, maxSkipsPerRun: 1_000 },
  );
});

test("b27: narrowing a key never lets through what was refused", () => {
  fc.assert(
    fc.property(key, accessRequest, fc.integer({ min: 0, max: 2 ** SCOPES.length - 1 }), (record, asked, mask) => {
      fc.pre(authorize(record, asked, NOW, CLIENT) !== undefined);
      const narrowings: Partial<KeyRecord>[] = [
        { scopes: record.scopes & mask },
        { state: "revoked" },
        { expiresAt: NOW },
        { boundGatewayId: "" },
        { teamHoldsNamespace: false },
        { allowedCIDRs: ["198.51.100.0/24"] },
      ];
      for (const narrowed of narrowings) {
        expect(authorize({ ...record, ...narrowed }, asked, NOW, CLIENT)).toBeDefined();
      }
    }),
  );
});

test("b26: a key with every right is refused as any other once it is revoked", () => {
  const everything = keyRecord({ scopes: scopeSet(SCOPES), state: "revoked" });
  for (const operation of operations) {
    const { product } = OPERATIONS[operation];
    const asked: AccessRequest =
      product === "memory"
        ? { product, operation }
        : { product, operation, gateway: { gatewayId: "g1", teamId: everything.teamId } };
    expect(authorize(everything, asked, NOW, CLIENT)).toEqual({ code: "unauthorized", cause: "revoked" });
  }
});

test("b32: another team's gateway and one that does not exist look the same", () => {
  fc.assert(
    fc.property(key, fc.constantFrom(undefined, ...operations), (record, operation) => {
      fc.pre(record.teamId === "a");
      const ask = (named: { gatewayId: string; teamId: string } | undefined) =>
        authorize(record, { product: "gateway", operation, gateway: named }, NOW, CLIENT);
      fc.pre(record.boundGatewayId !== "g9");
      expect(ask({ gatewayId: "g9", teamId: "b" })).toEqual(ask(undefined));
    }),
  );
});

test("the scopes that a request needs one of are the operation's, and where that takes any, or is none, its product's", () => {
  for (const operation of operations) {
    const { product, scope } = OPERATIONS[operation];
    const needed = scope === null ? productScopes(product) : scopeBit(scope);
    expect(neededScopes({ product, operation })).toBe(needed);
    expect(neededScopes({ product, operation: undefined })).toBe(productScopes(product));
  }
});
