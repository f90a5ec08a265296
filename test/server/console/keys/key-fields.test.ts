/** A save of the form to edit a key changes what it has controls for, and loses nothing else. */
import { describe, expect, test } from "vitest";
import { API_MANAGED_KEY_FIELDS, type ApiManagedKeySpec } from "../../../../domain/key/declaration/api-managed-key.ts";
import { eachFact } from "../../../../domain/key/declaration/facts.ts";
import { formFieldOf } from "../../../../server/console/keys/form/form-fields.ts";
import { EMPTY_FIELDS, fieldsOfSpec, specOfFields } from "../../../../server/console/keys/form/key-fields.ts";

/** Every field, with every member, but for `preset`, which excludes `scopes`. */
const WHOLE: ApiManagedKeySpec = {
  displayName: "Agent",
  ...eachFact((name) => `Another ${name}`),
  scopes: ["memory:read", "memory:write", "gateway:generate"],
  gatewayRef: { name: "main", namespace: "shared" },
  allowedModels: ["gpt-5", "a, b"],
  libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "handbook", namespace: "shared" }] },
  mcpDefaultLibraryRef: { name: "handbook", namespace: "shared" },
  subjectAccess: { mode: "Bound", subject: "ann" },
  allowedCIDRs: ["10.0.0.0/8", "2001:db8::/32"],
  state: "Suspended",
  expiresAfter: "720h",
  expiresAt: "2030-01-02T03:04:05.006Z",
  rateLimit: { requestsPerMinute: 60, burst: 10, tokensPerMinute: 9_000, scope: "Installation", concurrent: 3 },
  budgets: [
    { cost: "50.00", currency: "EUR", period: "Month", timeZone: "Europe/Berlin", onExhausted: "Alert" },
    { tokens: 7, period: "Day", timeZone: "UTC", onExhausted: "Refuse" },
  ],
};

const name = ({ name, namespace }: { name: string; namespace?: string }) => `${namespace}/${name}`;
/** The spec after the form of a stored one was saved, with what a person changed in it. */
function saved(stored: ApiManagedKeySpec, changed: object = {}): Record<string, unknown> {
  const shown = fieldsOfSpec(stored, { library: name, gateway: name }, "EUR");
  const lifetime = stored.expiresAt === undefined ? "none" : "date";
  return specOfFields({ ...EMPTY_FIELDS, ...shown, lifetime, ...changed }, stored);
}

describe("the form to edit a key", () => {
  test("keeps every field of the schema where nothing is changed", () => {
    expect(Object.keys(WHOLE).concat("preset").toSorted()).toEqual(API_MANAGED_KEY_FIELDS.toSorted());
    expect(saved(WHOLE)).toEqual(WHOLE);
    const { scopes: _, ...others } = WHOLE;
    expect(saved({ ...others, preset: "GatewayDefault" })).toEqual({ ...others, preset: "GatewayDefault" });
  });

  test("keeps members that it has no control for, whatever they are called, as a later version may have them", () => {
    const later = {
      ...{ ...WHOLE, contact: "ann@example.com", notes: { runbook: "https://example.com" } },
      rateLimit: { ...WHOLE.rateLimit, requestsPerDay: 1_000 },
      libraryAccess: { mode: "Restricted", libraryRefs: WHOLE.libraryAccess?.libraryRefs, readOnly: true },
      budgets: [{ ...WHOLE.budgets?.[0], notify: ["ann"] }, WHOLE.budgets?.[1]],
    } as unknown as ApiManagedKeySpec;
    expect(saved(later)).toEqual(later);
    expect(saved(later, { displayName: "Other", requestsPerMinute: "30" })).toEqual({
      ...{ ...later, displayName: "Other" },
      rateLimit: { ...later.rateLimit, requestsPerMinute: 30 },
    });
  });

  test("keeps what a key without a scope of a gateway has for one, which the page hides", () => {
    const ofMemory: ApiManagedKeySpec = {
      ...{ state: "Active", preset: "MCPReadOnly" },
      ...{ gatewayRef: { name: "main", namespace: "shared" }, allowedModels: ["gpt-5"] },
    };
    expect(saved(ofMemory, { gateway: "", models: "" })).toEqual(ofMemory);
    const narrowed = saved({ ...ofMemory, preset: "GatewayDefault" }, { preset: "MCPReadOnly" });
    expect(narrowed).toEqual({ state: "Active", preset: "MCPReadOnly" });
  });

  test.for([
    ["a,b, c", ["a,b"], ["a,b", "c"]],
    ["a,b,c", ["a,b"], ["a,b", "c"]],
    ["c a,b", ["a,b"], ["a,b", "c"]],
    ["c,a,b", ["a,b"], ["a,b", "c"]],
    ["a,bc", ["a,b"], ["a", "bc"]],
    ["a,b, a,b,c, d", ["a,b", "a,b,c"], ["a,b", "a,b,c", "d"]],
    ["d,a,b,c,a,b", ["a,b", "a,b,c"], ["a,b", "a,b,c", "d"]],
  ] as const)("b369: reads %j as models of which %j were there before", ([typed, before, models]) => {
    const { allowedModels = [] } = saved({ ...WHOLE, allowedModels: [...before] }, { models: typed });
    expect([...(allowedModels as string[])].toSorted()).toEqual(models);
  });

  const cost = { cost: "12.50", currency: "USD", period: "Month" } as const;
  const typed = { budgetOf: "cost", budgetAmount: "12.50", budgetCurrency: "USD", budgetPeriod: "Month" } as const;
  test.for([
    ["gives a key a budget", undefined, typed, [cost]],
    ["gives its budget another size", [cost], { budgetAmount: "20.00" }, [{ ...cost, cost: "20.00" }]],
    ["has its budget count tokens", [cost], { budgetOf: "tokens", budgetAmount: "5,000" }, [{ tokens: 5_000 }]],
    ["takes its budget away", [cost], { budgetOf: "" }, undefined],
  ] as const)("%s", ([, before, changed, after]) => {
    const { budgets: _, ...others } = WHOLE;
    const stored = { ...others, ...(before && { budgets: [...before] }) } as ApiManagedKeySpec;
    const { budgets } = saved(stored, changed);
    if (after === undefined) expect(budgets).toBeUndefined();
    else expect(budgets).toMatchObject(after);
  });

  test("takes away what is emptied in it, and what no chosen scope is for", () => {
    const emptied = saved(WHOLE, { displayName: "", networks: "", budgetOf: "", lifetime: "none" });
    expect(Object.keys(emptied)).not.toEqual(expect.arrayContaining(["displayName"]));
    expect(emptied).toMatchObject({ budgets: [WHOLE.budgets?.[1]] });
    for (const gone of ["displayName", "allowedCIDRs", "expiresAt"]) expect(emptied).not.toHaveProperty(gone);
    const narrowed = saved(WHOLE, { scopes: ["gateway:generate"] });
    for (const gone of ["libraryAccess", "mcpDefaultLibraryRef", "subjectAccess"]) {
      expect(narrowed).not.toHaveProperty(gone);
    }
    const unlimited = { requestsPerMinute: "", burst: "", tokensPerMinute: "", concurrent: "" };
    expect(saved(WHOLE, unlimited)).not.toHaveProperty("rateLimit");
  });
});

test("a fault of the API is said beside the control that its field is in", () => {
  const placed = {
    ...{ name: "name", "spec.rateLimit.burst": "burst", "spec.rateLimit.scope": "requestsPerMinute" },
    ...{ "spec.libraryAccess.libraryRefs[0].name": "libraries", "spec.libraryAccess.mode": "libraryAccess" },
    ...{ "spec.budgets[0].currency": "budgetCurrency", "spec.budgets[1].cost": "budgetAmount" },
    ...{ "spec.allowedCIDRs[1]": "networks", "spec.state": undefined },
  };
  expect(Object.fromEntries(Object.keys(placed).map((path) => [path, formFieldOf(path)]))).toEqual(placed);
});
