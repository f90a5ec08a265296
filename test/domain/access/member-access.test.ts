import { describe, expect, test } from "vitest";
import {
  MEMBER_SCOPES,
  memberRecord,
  memberScopes,
  standingNames,
  stepUpScopes,
} from "../../../domain/access/member-access.ts";
import type { MemberToken, TeamRecord } from "../../../domain/access/membership.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";

const READ = scopeSet(["memory:read"]);
const READ_AND_WRITE = scopeSet(MEMBER_SCOPES);

const TEAM: TeamRecord = {
  ...{
    teamId: "team-1",
    name: "research",
    cluster: "c",
    defaultLibraryId: "lib_default",
    allowedCIDRs: null,
    limits: null,
  },
  members: [
    { role: "viewer", name: "group readers", libraryIds: null },
    { role: "member", name: "group writers", libraryIds: ["lib_a"] },
    { role: "admin", name: "subject ann", libraryIds: ["lib_b"] },
    { role: "of a later build", name: "group guests", libraryIds: null },
  ],
  revoked: [{ name: "subject ann", atMs: 1_000 }],
};

const token = (names: readonly string[], more: Partial<MemberToken> = {}): MemberToken => {
  return { actor: "ann", names: new Set(names), scopes: READ_AND_WRITE, issuedAt: 2_000, expiresAt: 9_000, ...more };
};
const recordOf = (names: readonly string[], more: Partial<MemberToken> = {}) => memberRecord(token(names, more), TEAM);

describe("the names of a person or a program", () => {
  test("are the subject, each group and the ServiceAccount, each with its kind: none passes for another", () => {
    const names = standingNames({ subject: "ann", groups: ["leads", "ann"], serviceAccount: "dev/agent" });
    expect([...names].sort()).toEqual(["group ann", "group leads", "serviceAccount dev/agent", "subject ann"]);
    expect([...standingNames({ subject: "ann", groups: [], serviceAccount: null })]).toEqual(["subject ann"]);
  });
});

describe("the scopes that a token was asked for", () => {
  test.each([
    ["one text", "openid memory:read", READ],
    ["a list", ["memory:write", "memory:read"], READ_AND_WRITE],
    ["another product's alone", "gateway:generate profile", 0],
    ["none", undefined, 0],
    ["no text and no list", { "memory:read": true }, 0],
  ])("are the memory's among those named: %s", (_, claim, scopes) => expect(memberScopes(claim)).toBe(scopes));
});

describe("what the bearer of a token may do in a team", () => {
  test("is nothing without a role in it, or with one of a later build alone", () => {
    expect(recordOf(["subject bob"])).toBeUndefined();
    expect(recordOf(["group guests"])).toBeUndefined();
  });

  test("goes by the strongest of the roles, with the libraries of that role", () => {
    expect(recordOf(["group readers"])).toMatchObject({ scopes: READ, libraryIds: null });
    expect(recordOf(["group readers", "group writers"])).toMatchObject({
      scopes: READ_AND_WRITE,
      libraryIds: ["lib_a"],
    });
  });

  test("joins the libraries where several roles are as strong", () => {
    const names = ["group writers", "subject ann"];
    expect(recordOf(names)?.libraryIds).toEqual(["lib_a", "lib_b"]);
    const all: TeamRecord = {
      ...TEAM,
      members: [...TEAM.members, { role: "member", name: "group all", libraryIds: null }],
    };
    expect(memberRecord(token([...names, "group all"]), all)?.libraryIds).toBeNull();
  });

  test("is no more than the token was asked for", () => {
    expect(recordOf(["group writers"], { scopes: READ })?.scopes).toBe(READ);
    expect(recordOf(["group readers"], { scopes: READ_AND_WRITE })?.scopes).toBe(READ);
    expect(recordOf(["group writers"], { scopes: 0 })?.scopes).toBe(0);
  });

  test("is revoked for a token that was issued until the team revoked one of its names, and not for a later one", () => {
    expect(recordOf(["subject ann"], { issuedAt: 1_000 })?.state).toBe("revoked");
    expect(recordOf(["subject ann"], { issuedAt: 1_001 })?.state).toBe("active");
    expect(recordOf(["group writers"], { issuedAt: 1_000 })?.state).toBe("active");
  });

  test("has the shape of a key that reaches no gateway, ends with the token, and counts its calls for the person", () => {
    expect(recordOf(["group writers"])).toMatchObject({
      ...{ keyId: "ann", version: 0, teamId: "team-1", namespace: "", expiresAt: 9_000 },
      ...{ mcpDefaultLibraryId: null, teamDefaultLibraryId: "lib_default", boundGatewayId: null },
    });
  });
});

describe("the scopes to ask a new token for", () => {
  const stepUp = (names: readonly string[], scopes: number) =>
    stepUpScopes({ token: token(names, { scopes }), team: TEAM });

  test("are all of the role, where the token was asked for fewer", () => {
    expect(stepUp(["group writers"], READ)).toEqual(["memory:read", "memory:write"]);
    expect(stepUp(["group readers"], 0)).toEqual(["memory:read"]);
  });

  test("are none where no other token would do more", () => {
    expect(stepUp(["group writers"], READ_AND_WRITE)).toBeUndefined();
    expect(stepUp(["group readers"], READ)).toBeUndefined();
    expect(stepUp(["subject bob"], 0)).toBeUndefined();
  });
});
