import { MessageChannel } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Broadcast } from "../../../server/key-index/index-messages.ts";
import { IndexMirror } from "../../../server/key-index/index-mirror.ts";
import { KeyIndex } from "../../../server/key-index/key-index.ts";
import { Lease } from "../../../server/key-index/lease.ts";
import { resolvePlaceholders } from "../../../server/key-index/placeholder-keys.ts";
import { sharedCells } from "../../../server/key-index/shared-cells.ts";
import { gatewayRecord, indexedKey, keyRecord } from "../harness.ts";

const RATE = { requestsPerMinute: 60, burst: 1, scope: "Replica" } as const;

/** An index, and its mirror as another thread has it: all that passes between the two are messages and shared memory. */
function open() {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const cells = sharedCells();
  const clock = { now: () => 0, monotonic: () => 0 };
  const lease = Lease.begin(clock, cells.lease);
  let changes = 0;
  const mirror = new IndexMirror({
    port: port2,
    cells,
    lease: Lease.read(clock, cells.lease),
    onChanged: () => changes++,
  });
  const broadcast: Broadcast = (message) => {
    port1.postMessage(message);
    Atomics.add(cells.broadcasts, 0, 1);
  };
  const index = new KeyIndex(8);
  index.broadcastTo(broadcast);
  return { index, mirror, broadcast, cells, lease, changes: () => changes };
}

const version = (digest: string, fields: Parameters<typeof keyRecord>[0] = {}, importedFormat = false) =>
  indexedKey(digest, keyRecord({ keyId: "key_a", ...fields }), importedFormat);

describe("the index as another thread decides by it", () => {
  test("finds a key in the same turn of the event loop in which it was published", () => {
    const { index, mirror } = open();
    expect(mirror.findKey("digest")).toBeUndefined();
    index.applyKey("key_a", [version("digest", { libraryIds: ["lib_a"] })]);
    expect(mirror.findKey("digest")).toMatchObject({ keyId: "key_a", libraryIds: ["lib_a"], state: "active" });
  });

  test("refuses a key as soon as it is revoked, and has a record that it found before as it is now", () => {
    const { index, mirror } = open();
    index.applyKey("key_a", [version("digest")]);
    const found = mirror.findKey("digest");
    index.applyKey("key_a", [version("digest", { state: "revoked" })]);
    expect(mirror.findKey("digest")?.state).toBe("revoked");
    expect(found && mirror.findPresent(found)?.state).toBe("revoked");
    index.removeKey("key_a");
    expect([mirror.findKey("digest"), found && mirror.findPresent(found)]).toEqual([undefined, undefined]);
  });

  test("b476: has a key that was found before as it is now, also if it changes while it is looked for", () => {
    const { index, mirror } = open();
    index.applyKey("key_a", [version("digest")]);
    mirror.findKey("digest");
    /** Looks for the key, which changes once the mirror has taken in what there is. */
    const presentAfter = (change: () => void) => {
      const changing = { hasChanged: false };
      const found = Object.defineProperty(keyRecord({ keyId: "key_a" }), "version", {
        get() {
          if (!changing.hasChanged) change();
          changing.hasChanged = true;
          return 1;
        },
      });
      return mirror.findPresent(found)?.libraryIds;
    };
    expect(presentAfter(() => index.applyKey("key_a", [version("digest", { libraryIds: ["lib_1"] })]))).toEqual([
      "lib_1",
    ]);
    const andNewTables = presentAfter(() => {
      index.applyKey("key_a", [version("digest", { libraryIds: ["lib_2"] })]);
      for (let n = 0; n < 2_000; n++) {
        index.applyKey("key_b", [version("other", { keyId: "key_b", libraryIds: [`lib_${n}`] })]);
      }
    });
    expect([andNewTables, mirror.findKey("digest")?.libraryIds]).toEqual([["lib_2"], ["lib_2"]]);
  });

  test("b476: notes no use for another key where the tables change while the key is looked for", () => {
    const { index, mirror, broadcast } = open();
    index.applyKey("key_a", [version("digest")]);
    mirror.findKey("digest");
    const next = new KeyIndex(8, index);
    let hasChanged = false;
    const used = Object.defineProperty(keyRecord({ keyId: "key_a" }), "version", {
      get() {
        if (!hasChanged) {
          index.applyKey("key_a", [version("digest", { libraryIds: ["lib"] })]);
          for (const keyId of ["key_b", "key_c"]) next.applyKey(keyId, [version(keyId, { keyId })]);
          next.broadcastTo(broadcast);
        }
        hasChanged = true;
        return 1;
      },
    });
    mirror.noteUse(used, 5_000);
    expect(next.drainUses(6_000)).toEqual([]);
  });

  test("goes over to the tables that replace those it has, and keeps nothing of the old ones", () => {
    const { index, mirror, broadcast } = open();
    index.applyKey("key_a", [version("old")]);
    const found = mirror.findKey("old");
    const next = new KeyIndex(8, index);
    next.applyKey("key_b", [version("new", { keyId: "key_b" })]);
    next.broadcastTo(broadcast);
    expect([mirror.findKey("old"), mirror.findKey("new")?.keyId]).toEqual([undefined, "key_b"]);
    expect(found && mirror.findPresent(found)).toBeUndefined();
  });

  test("has gateways by their public ids, and teams by their members, until they are removed", () => {
    const { index, mirror } = open();
    const gateway = gatewayRecord({ gatewayId: "gw_1", publicId: "models" });
    index.applyGateway(gateway);
    expect([mirror.findGateway("models"), mirror.publicIdOf("gw_1")]).toEqual([gateway, "models"]);
    index.removeGateway("gw_1");
    expect(mirror.findGateway("models")).toBeUndefined();
    const members = [{ role: "viewer", name: "subject ann", libraryIds: null }];
    const token = { actor: "ann", names: new Set(["subject ann"]), scopes: 0, issuedAt: 0, expiresAt: 1 };
    index.applyTeam({
      teamId: "t",
      name: "research",
      cluster: "c",
      defaultLibraryId: null,
      allowedCIDRs: null,
      limits: null,
      members,
      revoked: [],
    });
    expect(mirror.findMember(token, null).map(({ teamId }) => teamId)).toEqual(["t"]);
    index.removeTeam("t");
    expect(mirror.findMember(token, null)).toEqual([]);
  });

  test("charges a key's rate limit from the same cell as every other thread", () => {
    const { index, mirror } = open();
    index.applyKey("key_a", [version("digest", { rateLimit: RATE })]);
    const [here, there] = [index.findKey("digest"), mirror.findKey("digest")];
    const admitted = (view: typeof index | typeof mirror, owner: typeof here) =>
      owner && view.chargeRates([{ owner, limit: RATE }], 1_000)[0]?.admitted;
    expect([admitted(index, here), admitted(mirror, there)]).toEqual([true, false]);
  });

  test("b124: charges a team's rate limit from the same cell as every other thread, for as long as it has one", () => {
    const { index, mirror } = open();
    const team = { teamId: "t", name: "research", cluster: "c", defaultLibraryId: null, allowedCIDRs: null };
    const declare = (rate: typeof RATE | null) =>
      index.applyTeam({ ...team, limits: { rate, concurrent: 1 }, members: [], revoked: [] });
    const admitted = (view: typeof index | typeof mirror) => {
      mirror.findKey("digest");
      return view.chargeRates([{ owner: "t", limit: RATE }], 1_000)[0]?.admitted;
    };
    declare(RATE);
    expect([admitted(mirror), admitted(index), admitted(mirror)]).toEqual([true, false, false]);
    index.refundRate({ owner: "t", limit: RATE }, 1e9, 1_000);
    expect([admitted(index), admitted(mirror)]).toEqual([true, false]);
    // A rate that is declared anew begins with its whole burst, in a cell that another may have had.
    declare(null);
    expect([admitted(index), admitted(mirror), admitted(mirror)]).toEqual([true, true, true]);
    declare(RATE);
    expect([admitted(mirror), admitted(index)]).toEqual([true, false]);
    index.removeTeam("t");
    expect([admitted(index), admitted(mirror)]).toEqual([true, true]);
  });

  test("b124: charges a route's rate limit from the same cell, for as long as its gateway has the route", () => {
    const { index, mirror } = open();
    const route = { model: "fast", routeId: "rt", upstream: "u", upstreamModel: "x", fallbacks: [] };
    const rateLimit = { requestsPerMinute: RATE.requestsPerMinute, burst: RATE.burst };
    const declare = (...models: readonly string[]) =>
      index.applyGateway(
        gatewayRecord({
          ...{ gatewayId: "gw_1", publicId: "models" },
          routes: models.map((model) => ({ ...route, model, rateLimit })),
        }),
      );
    const admitted = (view: typeof index | typeof mirror, model: string) => {
      mirror.findGateway("models");
      return view.chargeRates([{ owner: `gw_1/${model}`, limit: RATE }], 1_000)[0]?.admitted;
    };
    declare("fast", "slow");
    expect([admitted(mirror, "fast"), admitted(index, "fast"), admitted(mirror, "slow")]).toEqual([true, false, true]);
    declare("slow");
    expect([admitted(index, "fast"), admitted(mirror, "fast"), admitted(index, "slow")]).toEqual([true, true, false]);
    index.removeGateway("gw_1");
    expect([admitted(index, "slow"), admitted(mirror, "slow")]).toEqual([true, true]);
  });

  test("b124: has the cells of teams' limits that were there before it", () => {
    const { index } = open();
    const team = { teamId: "t", name: "research", cluster: "c", defaultLibraryId: null, allowedCIDRs: null };
    index.applyTeam({ ...team, limits: { rate: RATE, concurrent: null }, members: [], revoked: [] });
    const later = open();
    index.broadcastTo(later.broadcast);
    later.mirror.findKey("digest");
    const charge = (view: typeof index | typeof later.mirror) =>
      view.chargeRates([{ owner: "t", limit: RATE }], 1_000)[0]?.admitted;
    expect([charge(index), charge(later.mirror)]).toEqual([true, false]);
  });

  test("notes uses where the other thread takes them", () => {
    const { index, mirror } = open();
    index.applyKey("key_a", [version("digest")]);
    const found = mirror.findKey("digest");
    if (found !== undefined) mirror.noteUse(found, 5_000);
    expect(index.drainUses(6_000)).toEqual([{ keyId: "key_a", version: 1, at: 5_000, requests: 1 }]);
  });

  test("takes keys of another format while there are some, and placeholders where no stored key has their text", () => {
    const { index, mirror, broadcast } = open();
    expect(mirror.acceptsImportedFormat()).toBe(false);
    index.applyKey("key_a", [version("digest", {}, true)]);
    expect(mirror.acceptsImportedFormat()).toBe(true);
    index.removeKey("key_a");
    expect(mirror.acceptsImportedFormat()).toBe(false);
    const teams = [{ teamId: "t", name: "research", defaultLibraryId: null, allowedCIDRs: null, limits: null }];
    broadcast({ kind: "placeholders", records: resolvePlaceholders([{ digest: "p", team: null }], teams).records });
    const found = mirror.findKey("p");
    expect([mirror.acceptsImportedFormat(), found?.keyId]).toEqual([true, "placeholder_1"]);
    expect(found && mirror.findPresent(found)).toBe(found);
    index.applyKey("key_a", [version("p")]);
    expect(mirror.findKey("p")?.keyId).toBe("key_a");
  });

  test("is current as long as the other thread's lease holds, and says up to which change it is", () => {
    const { mirror, lease, cells } = open();
    expect([mirror.isCurrent(), mirror.lastSeq()]).toEqual([false, 0]);
    lease.renew(lease.moment(), 5_000);
    cells.seq[0] = 42;
    expect([mirror.isCurrent(), mirror.lastSeq()]).toEqual([true, 42]);
  });

  test("hears that open calls are to be looked through", () => {
    const { mirror, broadcast, changes } = open();
    broadcast({ kind: "changed" });
    mirror.findKey("any");
    expect(changes()).toBe(1);
  });

  test("fails rather than decides where a message that was counted is not there", () => {
    const { mirror, cells } = open();
    mirror.findKey("any");
    Atomics.add(cells.broadcasts, 0, 1);
    expect(() => mirror.findKey("any")).toThrow("a broadcast message is missing");
  });
});
