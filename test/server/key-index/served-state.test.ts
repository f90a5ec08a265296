import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { TeamRecord } from "../../../domain/access/membership.ts";
import { createLog } from "../../../runtime/log.ts";
import type { Placeholder } from "../../../server/context/placeholders.ts";
import type { IndexMessage } from "../../../server/key-index/index-messages.ts";
import { KeyIndex } from "../../../server/key-index/key-index.ts";
import { Lease } from "../../../server/key-index/lease.ts";
import { ServedState } from "../../../server/key-index/served-state.ts";
import { sharedCells } from "../../../server/key-index/shared-cells.ts";
import { type Keyring, parseKeyring, seal } from "../../../store/encryption/keyring.ts";
import type { Changes, Snapshot } from "../../../store/feed/change-feed.ts";
import type { SealedGateway } from "../../../store/gateways/gateways.ts";
import { indexedKey, keyRecord } from "../harness.ts";
import { keyring, shiftableClock } from "./replica-fixtures.ts";

const other = parseKeyring(randomBytes(32).toString("base64"));

/** A gateway whose one credential is sealed under a keyring. */
function gateway(gatewayId: string, under: Keyring): SealedGateway {
  const upstream = { name: "main", dialect: "openai", baseUrl: "https://models.example.com" } as const;
  const sealed = seal(under, "a credential", gatewayId);
  const upstreams = [{ ...upstream, sealed }];
  return {
    ...{ gatewayId, publicId: gatewayId, teamId: "team" },
    ...{ teamHoldsNamespace: true, routesOnly: false, routes: [], upstreams },
    operations: ["generate", "embed", "models"],
  };
}

/** What a feed answers, with nothing in it but what a test says. */
function changes(more: Partial<Changes> = {}): Changes {
  return {
    ...{ changes: [], keys: [], gateways: [], teams: [], gone: false, head: 2, idOfSeq: null },
    removed: { keyIds: [], gatewayIds: [], teamIds: [] },
    ...more,
  };
}

const team = (name: string): TeamRecord => {
  return {
    teamId: `id of ${name}`,
    name,
    cluster: "c",
    defaultLibraryId: null,
    allowedCIDRs: null,
    limits: null,
    members: [],
    revoked: [],
  };
};
const EMPTY: Snapshot = { head: 1, headId: null, gateways: [], teams: [] };
const version = (digest: string, fields: Parameters<typeof keyRecord>[0] = {}) =>
  indexedKey(digest, keyRecord({ keyId: "key_a", ...fields }));
const changeOf = (ref: string) => ({ seq: 2, id: "id of the change", kind: "key", ref }) as const;

function open(placeholders: readonly Placeholder[] = []) {
  const cells = sharedCells();
  const lines: string[] = [];
  const sent: string[] = [];
  const log = createLog("debug", { write: (line) => lines.push(JSON.parse(line).msg) });
  const deps = { keyring, placeholders, log, broadcast: ({ kind }: IndexMessage) => sent.push(kind) };
  const state = new ServedState(deps, Lease.begin(shiftableClock(), cells.lease), cells);
  state.replace(new KeyIndex(), EMPTY);
  return { state, lines, sent };
}

describe("what changed of keys", () => {
  test("takes the place of what there was: a version that is not given any more has ended", async () => {
    const { state } = open();
    await state.apply(changes({ keys: [version("one"), version("two", { version: 2 })] }));
    expect([state.findKey("one")?.versionState, state.keyCount]).toEqual(["active", 2]);
    await state.apply(changes({ changes: [changeOf("key_a")], keys: [version("two", { version: 2 })] }));
    expect([state.findKey("one")?.versionState, state.findKey("two")?.versionState]).toEqual(["retired", "active"]);
  });

  test("ends all versions of a key of which a change says something, and nothing is given", async () => {
    const { state } = open();
    await state.apply(changes({ keys: [version("one")] }));
    await state.apply(changes({ changes: [changeOf("key_a")] }));
    expect(state.findKey("one")?.versionState).toBe("retired");
  });

  test("takes a removed key out", async () => {
    const { state } = open();
    await state.apply(changes({ keys: [version("one")] }));
    await state.apply(changes({ removed: { keyIds: ["key_a"], gatewayIds: [], teamIds: [] } }));
    expect([state.findKey("one"), state.keyCount]).toEqual([undefined, 0]);
  });

  test("has the other threads look through their open calls after it, and not before", async () => {
    const { state, sent } = open();
    sent.length = 0;
    await state.apply(changes({ keys: [version("one")] }));
    expect(sent.at(-1)).toBe("changed");
    expect(sent.filter((kind) => kind === "changed")).toHaveLength(1);
  });
});

test("an index that is filled anew takes the old one's place at once, and the old one's keys are gone", async () => {
  const { state } = open();
  await state.apply(changes({ keys: [version("old")] }));
  const next = state.emptyIndex(1);
  next.add(version("new", { keyId: "key_b" }));
  expect([state.findKey("old")?.keyId, state.findKey("new")]).toEqual(["key_a", undefined]);
  state.replace(next, EMPTY);
  expect([state.findKey("old"), state.findKey("new")?.keyId]).toEqual([undefined, "key_b"]);
});

describe("placeholders", () => {
  const placeholders = [{ digest: "placeholder", team: null }];
  const removed = { keyIds: [], gatewayIds: [], teamIds: ["id of platform"] };

  test("open their team, as teams come and go", async () => {
    const { state, lines } = open(placeholders);
    expect(state.findKey("placeholder")).toBeUndefined();
    await state.apply(changes({ teams: [team("research")] }));
    expect([state.findKey("placeholder")?.teamId, state.acceptsImportedFormat()]).toEqual(["id of research", true]);
    await state.apply(changes({ teams: [team("platform")] }));
    expect(state.findKey("placeholder"), "of two teams none is meant").toBeUndefined();
    await state.apply(changes({ removed }));
    expect(state.findKey("placeholder")?.teamId).toBe("id of research");
    expect(lines).toContain("placeholder keys name no team that exists, or none where there are several");
  });

  test("stand behind a stored key of the same text, also where that is revoked", async () => {
    const { state } = open(placeholders);
    await state.apply(changes({ teams: [team("research")], keys: [version("placeholder", { state: "revoked" })] }));
    expect(state.findKey("placeholder")).toMatchObject({ keyId: "key_a", state: "revoked" });
  });

  test("have no uses noted, as stored keys have", async () => {
    const { state } = open(placeholders);
    await state.apply(changes({ teams: [team("research")], keys: [version("one")] }));
    for (const digest of ["placeholder", "one"]) {
      const found = state.findKey(digest);
      if (found !== undefined) state.noteUse(found, 5_000);
    }
    expect(state.drainUses(6_000).map(({ keyId }) => keyId)).toEqual(["key_a"]);
  });
});

describe("a gateway whose credential no encryption key opens", () => {
  test("forwards nothing, and every other one goes on", () => {
    const { state, lines } = open();
    const gateways = [gateway("known", keyring), gateway("unreadable", other)];
    state.replace(new KeyIndex(), { ...EMPTY, gateways });
    const credentials = ["known", "unreadable"].map((id) => state.findGateway(id)?.upstreams[0]?.credential);
    expect(credentials).toEqual(["a credential", null]);
    expect(lines).toEqual(["a gateway's credential cannot be read"]);
  });

  test("b464: forwards to its upstreams whose credentials open, or that need none", () => {
    const { state } = open();
    const [mixed, { upstreams }] = [gateway("mixed", other), gateway("mixed", keyring)];
    const opened = upstreams.map((upstream) => ({ ...upstream, name: "open" }));
    const none = upstreams.map((upstream) => ({ ...upstream, name: "none", sealed: false as const }));
    const gateways = [{ ...mixed, upstreams: [...mixed.upstreams, ...opened, ...none] }];
    state.replace(new KeyIndex(), { ...EMPTY, gateways });
    const credentials = state.findGateway("mixed")?.upstreams.map(({ name, credential }) => [name, credential]);
    expect(credentials).toEqual([
      ["main", null],
      ["open", "a credential"],
      ["none", false],
    ]);
    expect(state.unreadableGateways).toBe(1);
  });

  test("is counted until it is opened or gone", async () => {
    const { state } = open();
    const gateways = [gateway("known", keyring), gateway("mended", other), gateway("removed", other)];
    state.replace(new KeyIndex(), { ...EMPTY, gateways });
    expect(state.unreadableGateways).toBe(2);
    await state.apply(changes({ gateways: [gateway("mended", keyring)] }));
    expect(state.unreadableGateways).toBe(1);
    await state.apply(changes({ removed: { keyIds: [], gatewayIds: ["removed"], teamIds: [] } }));
    expect(state.unreadableGateways).toBe(0);
  });
});
