import { expect, test } from "vitest";
import { foreseeRevocation, revokeEach } from "../../../../../server/management/keys/change/revoke-each.ts";
import { DatabaseUnavailableError } from "../../../../../store/database/errors.ts";

test("What breaks a revocation of several keys is passed on, and those behind it are not tried", async () => {
  const failures: unknown[] = [];
  let asked = 0;
  const broken = new DatabaseUnavailableError("the database is gone");
  const outcomes = await revokeEach(
    ["key_a", "key_b", "key_c"],
    () => {
      asked++;
      return Promise.reject(broken);
    },
    (error) => failures.push(error),
  );
  expect([asked, failures]).toEqual([1, [broken]]);
  const why = expect.stringContaining("The database does not answer. The change may have been made all the same");
  const untried = "Not tried, since one before it failed: select it again.";
  expect(outcomes).toEqual([
    { id: "key_a", is: "refused", why },
    { id: "key_b", is: "refused", why: untried },
    { id: "key_c", is: "refused", why: untried },
  ]);
});

const KEY = { teamId: "team_a", state: "active", ownerUid: null, namespace: "dev", name: "agent" } as const;
const MEMBER = new Map([["team_a", ["member"]]]);

test.for([
  ["lives", KEY, MEMBER, { is: "revoked" }],
  ["is suspended", { ...KEY, state: "suspended" }, MEMBER, { is: "revoked" }],
  ["is revoked", { ...KEY, state: "revoked" }, MEMBER, { is: "already" }],
  ["was declared, and is revoked", { ...KEY, state: "revoked", ownerUid: "uid" }, MEMBER, { is: "already" }],
  ["is declared", { ...KEY, ownerUid: "uid" }, MEMBER, { why: /^PlatformKey dev\/agent declares it: remove/ }],
  ["is a viewer's", KEY, new Map([["team_a", ["viewer"]]]), { why: /^Your role in this team does not let you/ }],
  ["is another team's", KEY, new Map([["team_b", ["admin"]]]), { why: /^There is no key of this id\.$/ }],
  ["is none", undefined, MEMBER, { why: /^There is no key of this id\.$/ }],
  ["is any for the installation's own", KEY, "everything", { is: "revoked" }],
] as const)("What would become of a key that %s is foreseen", ([, key, rights, expected]) => {
  const outcome = foreseeRevocation("key_a", key, rights);
  if ("why" in expected)
    expect(outcome).toEqual({ id: "key_a", is: "refused", why: expect.stringMatching(expected.why) });
  else expect(outcome).toEqual({ id: "key_a", ...expected });
});
