import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { API_CLUSTER } from "../../../../domain/api-cluster.ts";
import {
  decideTakeOver,
  type TakeOverCandidate,
  type TakeOverRequest,
} from "../../../../domain/key/observed/take-over.ts";
import { keyDigest } from "../../../../domain/key/secret/key-format.ts";

const SECRET = `inf_${"k".repeat(57)}`;
const version = (number: number, state: "active" | "retiring", secret: string) => ({
  ...{
    number,
    state,
    digest: keyDigest(secret),
    prefix: secret.slice(0, 12),
    imported: false,
    mayBeRead: true,
    mintedAt: 0,
  },
  ...{ activatedAt: 0, retireAt: state === "retiring" ? 1 : null, expiresAt: null, rotationTrigger: null },
  ...{ heals: null, lastUsedAt: null, leakedAt: null },
});
const BEFORE = `inf_${"b".repeat(57)}`;
const KEY: TakeOverCandidate = {
  ...{ cluster: API_CLUSTER, namespace: "", name: "agent", ownerUid: null, teamId: "team_a", state: "active" },
  ...{ managedBy: null, versions: [version(2, "active", SECRET), version(1, "retiring", BEFORE)] },
};
const hashOf = (secret: string) => ({ sha256: hash("sha256", secret), prefix: secret.slice(0, 12) });
const REQUEST: TakeOverRequest = { keyId: "key_abc234", hash: hashOf(SECRET), teamId: "team_a" };
const none = "The team of this namespace has no key key_abc234.";

describe("a take-over", () => {
  it.each<[string, Partial<TakeOverCandidate>]>([
    ["that works", {}],
    ["that is suspended", { state: "suspended" }],
    ["that is in a namespace of the API", { namespace: "made-here" }],
  ])("is of a key of the team that was made by hand, %s", (_, key) => {
    expect(decideTakeOver(REQUEST, { ...KEY, ...key })).toEqual({ digest: keyDigest(SECRET) });
  });

  it.each<[string, Partial<TakeOverCandidate> | undefined, Partial<TakeOverRequest>, string]>([
    ["a key that there is not", undefined, {}, none],
    ["another team's key", { teamId: "team_b" }, {}, none],
    ["another team's key that is revoked", { teamId: "team_b", state: "revoked" }, {}, none],
    ["another team's key that is declared", { teamId: "team_b", cluster: "c", ownerUid: "u" }, {}, none],
    ["another team's key by another hash", { teamId: "team_b" }, { hash: hashOf(BEFORE) }, none],
    ["a key from a namespace without a team", {}, { teamId: null }, none],
    [
      "a declared key",
      { cluster: "c", ownerUid: "u", namespace: "dev" },
      {},
      "declared already, as PlatformKey dev/agent",
    ],
    ["a key that was let go of", { cluster: "c", namespace: "dev" }, {}, "its declaration has let go of it"],
    ["a revoked key", { state: "revoked" }, {}, "is revoked, which is final"],
    [
      "a declared key whose namespace has moved, be it back again",
      { cluster: "c", ownerUid: "u", namespace: "dev", state: "revoked" },
      {},
      "is revoked, which is final",
    ],
    ["a key of Pulumi's", { managedBy: "urn:pulumi:dev::p::t::n" }, {}, "is managed by urn:pulumi:dev::p::t::n"],
    [
      "a library's own key",
      { cluster: "c", managedBy: "MemoryLibrary dev/notes" },
      {},
      "is managed by MemoryLibrary dev/notes",
    ],
    ["an old version", {}, { hash: hashOf(BEFORE) }, "is not that of the version"],
    ["a secret of its own", {}, { hash: hashOf(`inf_${"x".repeat(57)}`) }, "is not that of the version"],
    ["another key's prefix", {}, { hash: { ...hashOf(SECRET), prefix: "inf_zzzzzzzz" } }, "is not that of the version"],
    ["a key without a version", { versions: [] }, {}, "is not that of the version"],
    ["a key without its hash", {}, { hash: undefined }, "is to be of type ImportHash"],
    ["what is no id", {}, { keyId: "key_ABC'; --" }, "holds no key's id"],
  ])("b90: is refused of %s", (_, key, request, why) => {
    const decision = decideTakeOver({ ...REQUEST, ...request }, key && { ...KEY, ...key });
    expect(decision).toEqual({ refused: expect.stringContaining(why) });
  });
});
