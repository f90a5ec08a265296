import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import type { Spec } from "../../../domain/kinds/kinds.ts";
import { declareTeam, storedLists, teamSpec } from "../../../domain/team/declared-team.ts";

const LEAST = { namespaces: ["ml"], members: [] };
const FULL: Omit<Spec<"PlatformTeam">, "webhooks"> = {
  displayName: "Research",
  namespaces: ["ml", "data"],
  members: [
    { role: "admin", group: "leads" },
    { role: "member", subject: "ada", libraryRefs: [{ namespace: "ml", name: "notes" }] },
    { role: "viewer", serviceAccount: { namespace: "ml", name: "reader" } },
  ],
  mcpAgentPolicy: { defaultLibraryRef: { namespace: "ml", name: "notes" } },
  leaks: { action: "Revoke" },
  allowedCIDRs: ["203.0.113.0/24"],
  rateLimit: { requestsPerMinute: 60, burst: 10, tokensPerMinute: 1_000, scope: "Installation", concurrent: 4 },
  budgets: [{ tokens: 5, period: "Day", timeZone: "UTC", onExhausted: "Refuse" }],
};

describe("a declared team", () => {
  test("has its name for a display name, reports of leaks, and no restrictions, where its spec says nothing", () => {
    expect(declareTeam(LEAST, "research")).toEqual({
      ...{ displayName: "research", ...LEAST, defaultLibrary: null, leakAction: "Alert" },
      ...{ allowedCIDRs: null, limits: null },
    });
  });

  test("is written as the spec that declares it, in one order, and without what need not be said", () => {
    const [full, least] = [FULL, LEAST].map((spec) => Object.entries(declareTeam(spec, "research")));
    expect(full?.filter((field, i) => isDeepStrictEqual(field, least?.[i]))).toEqual([]);
    const written = (spec: typeof FULL) => teamSpec({ name: "research", ...declareTeam(spec, "research") });
    expect(JSON.stringify(written(FULL))).toBe(JSON.stringify(FULL));
    expect(JSON.stringify(written(LEAST))).toBe(JSON.stringify(LEAST));
    // What a list that is empty forbids is everything: it is another than none.
    expect(written({ ...LEAST, allowedCIDRs: [] })).toEqual({ ...LEAST, allowedCIDRs: [] });
  });

  test("is stored with each member and namespace once, in one order, a member with the libraries of each declaration", () => {
    const [notes, diary] = [
      { namespace: "ml", name: "notes" },
      { namespace: "ml", name: "diary" },
    ];
    const [leads, ada] = [
      { role: "admin", group: "leads" },
      { role: "member", subject: "ada" },
    ] as const;
    const written = (members: typeof FULL.members) => {
      const team = declareTeam({ members, namespaces: ["ml", "data", "ml"] }, "research");
      return teamSpec({ ...team, ...storedLists(team), name: "research" });
    };
    expect(written([{ ...ada, libraryRefs: [notes] }, leads, { ...ada, libraryRefs: [diary] }])).toEqual({
      members: [leads, { ...ada, libraryRefs: [notes, diary] }],
      namespaces: ["data", "ml"],
    });
    expect(written([ada, { ...ada, libraryRefs: [diary] }]).members).toEqual([ada]);
  });

  test("refers to a library of no namespace by its name alone", () => {
    const [defaultLibrary, libraryRefs] = [{ namespace: "", name: "notes" }, [{ namespace: "", name: "notes" }]];
    const members = [{ role: "member", kind: "subject", value: "ada", libraryRefs }] as const;
    expect(teamSpec({ ...declareTeam(LEAST, "research"), name: "research", defaultLibrary, members })).toEqual({
      ...LEAST,
      members: [{ role: "member", subject: "ada", libraryRefs: [{ name: "notes" }] }],
      mcpAgentPolicy: { defaultLibraryRef: { name: "notes" } },
    });
  });
});
