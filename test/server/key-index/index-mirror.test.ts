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
    expect(here && index.chargeRequest(here, 1_000)?.admitted).toBe(true);
    expect(there && mirror.chargeRequest(there, 1_000)?.admitted).toBe(false);
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
    const teams = [{ teamId: "t", name: "research", defaultLibraryId: null, allowedCIDRs: null }];
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
