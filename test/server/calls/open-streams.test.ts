import type { IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import type { CutCause } from "../../../server/calls/calls.ts";
import { StreamRegistry } from "../../../server/calls/open-streams.ts";
import { SharedCalls } from "../../../server/calls/shared-calls.ts";
import { keyRecord } from "../harness.ts";

const NOW = 1_000_000;
const LIMITS = { callsPerKey: 3, kept: 1 << 20 };

/** A request as far as its body is waited for. */
const request = (complete = false) =>
  ({ complete, readableFlowing: true, socket: { bytesRead: 0 } }) as unknown as IncomingMessage & { complete: boolean };

function open(shared: SharedCalls | null = null) {
  let endedKeys = 0;
  const registry = new StreamRegistry(() => endedKeys++, LIMITS, shared);
  /** A call, and what becomes of it. */
  const track = (key: KeyRecord, of?: IncomingMessage) => {
    const became: (CutCause | "ended")[] = [];
    const call = registry.track(key, (cause) => became.push(cause), of);
    if (typeof call === "string") throw new Error("there is no room for the call");
    call.takeOver(call.onCut, () => became.push("ended"));
    return { call, became };
  };
  return { registry, track, endedKeys: () => endedKeys };
}

describe("a call", () => {
  test("ends once, and is not cut after that", () => {
    const { registry, track } = open();
    const { call, became } = track(keyRecord());
    call.end();
    call.end();
    registry.cutAll("stopping");
    expect([became, registry.size]).toEqual([["ended"], 0]);
  });

  test("is cut once, and its end is not reported after that", () => {
    const { registry, track } = open();
    const { call, became } = track(keyRecord());
    registry.cutAll("stale_index");
    registry.cutAll("stopping");
    call.end();
    expect(became).toEqual(["stale_index"]);
  });

  test("is cut by what a handler that took it over has put in the first one's place", () => {
    const { registry, track } = open();
    const { call, became } = track(keyRecord());
    const taken: CutCause[] = [];
    call.takeOver((cause) => taken.push(cause));
    registry.cutAll("stopping");
    expect([became, taken]).toEqual([[], ["stopping"]]);
  });

  test("that ends leaves the others as they were, in whatever order they end", () => {
    const { registry, track } = open();
    const calls = Array.from({ length: 5 }, () => track(keyRecord()));
    for (const index of [1, 4, 0]) calls[index]?.call.end();
    expect(registry.size).toBe(2);
    registry.cutAll("stopping");
    expect(calls.map(({ became }) => became)).toEqual([["ended"], ["ended"], ["stopping"], ["stopping"], ["ended"]]);
  });
});

describe("a key that changes", () => {
  test("has its calls cut when its version is refused from now on, or is in the index no more", () => {
    const { registry, track, endedKeys } = open();
    const [suspended, gone, sound] = [keyRecord(), keyRecord(), keyRecord()];
    const calls = [suspended, gone, sound].map((key) => track(key));
    registry.revalidate((record) => {
      if (record === gone) return undefined;
      return record === suspended ? { ...record, state: "suspended" } : record;
    }, NOW);
    expect(calls.map(({ became }) => became)).toEqual([["key_ended"], ["key_ended"], []]);
    expect([registry.size, endedKeys()]).toEqual([1, 2]);
  });

  test("has its calls cut as it expires, without any change in the index", () => {
    const { registry, track } = open();
    const { became } = track(keyRecord({ expiresAt: NOW + 1 }));
    registry.revalidate((record) => record, NOW);
    expect(became).toEqual([]);
    registry.revalidate((record) => record, NOW + 1);
    expect(became).toEqual(["key_ended"]);
  });

  test("is asked for next as it was found last", () => {
    const { registry, track } = open();
    const [first, next] = [keyRecord({ keyId: "key_a" }), keyRecord({ keyId: "key_a", expiresAt: NOW + 5 })];
    track(first);
    const asked: KeyRecord[] = [];
    for (let time = 0; time < 2; time++) {
      registry.revalidate((record) => {
        asked.push(record);
        return next;
      }, NOW);
    }
    expect(asked).toEqual([first, next]);
  });
});

describe("room for one call more", () => {
  test("is there for a key while it has fewer than the bound, and each refusal is counted", () => {
    const { registry, track } = open();
    const [key, other] = [keyRecord({ keyId: "key_a" }), keyRecord({ keyId: "key_b" })];
    const calls = Array.from({ length: LIMITS.callsPerKey }, () => track(key));
    expect([registry.fullOf(key), registry.fullOf(other)]).toEqual(["key", undefined]);
    calls[0]?.call.end();
    expect(registry.fullOf(key)).toBeUndefined();
    expect(registry.figures()).toMatchObject({ calls: 2, refusedCalls: 1 });
  });

  test("goes by the key's own bound where it declares one", () => {
    const { registry, track } = open();
    const key = keyRecord({ keyId: "key_a", concurrent: 1 });
    track(key);
    expect(registry.fullOf(key)).toBe("key");
    expect(registry.track(key, () => {})).toBe("key");
    expect(registry.figures()).toMatchObject({ calls: 1, refusedCalls: 2 });
  });

  test("goes by the calls of all threads where the key declares a bound, until each has ended", () => {
    const shared = new SharedCalls();
    const [one, another] = [open(shared), open(new SharedCalls(shared.buffer))];
    const [key, free] = [keyRecord({ keyId: "key_a", concurrent: 2 }), keyRecord({ keyId: "key_b" })];
    const { call } = one.track(key);
    another.track(key);
    expect([one, another].map(({ registry }) => registry.fullOf(key))).toEqual(["key", "key"]);
    expect([one, another].map(({ registry }) => registry.track(key, () => {}))).toEqual(["key", "key"]);
    call.end();
    call.end();
    expect(another.registry.fullOf(key)).toBeUndefined();
    another.registry.cutAll("stopping");
    expect([shared.countOf("key_a"), shared.countOf("key_b")]).toEqual([0, 0]);
    for (let calls = 0; calls < LIMITS.callsPerKey; calls++) one.track(free);
    expect([one, another].map(({ registry }) => registry.fullOf(free))).toEqual(["key", undefined]);
  });

  test("goes by all calls of a team that declares a bound, on one thread and over several", () => {
    const teamLimits = { rate: null, concurrent: 2 };
    for (const shared of [null, new SharedCalls()]) {
      const one = open(shared);
      const another = shared === null ? one : open(new SharedCalls(shared.buffer));
      const [a, b] = ["key_a", "key_b"].map((keyId) => keyRecord({ keyId, teamLimits }));
      const other = keyRecord({ keyId: "key_c", teamId: "team-b", teamLimits });
      if (a === undefined || b === undefined) throw new Error("there are two");
      const { call } = one.track(a);
      another.track(b);
      expect([one, another].map(({ registry }) => registry.fullOf(a))).toEqual(["team", "team"]);
      expect([one, another].map(({ registry }) => registry.track(b, () => {}))).toEqual(["team", "team"]);
      expect(one.registry.fullOf(other)).toBeUndefined();
      // It may be another team's key by then.
      one.registry.revalidate((record) => ({ ...record, teamId: "team-b" }), NOW);
      call.end();
      expect(another.registry.fullOf(b)).toBeUndefined();
      another.registry.cutAll("stopping");
      expect([shared?.countOf("key_a"), shared?.countOf("team-a")]).toEqual(
        shared === null ? [undefined, undefined] : [0, 0],
      );
    }
  });

  test("is not taken from a key whose team has none", () => {
    const shared = new SharedCalls();
    const { registry, track } = open(shared);
    const key = keyRecord({ keyId: "key_a", concurrent: 2, teamLimits: { rate: null, concurrent: 1 } });
    const { call } = track(key);
    expect([registry.track(key, () => {}), shared.countOf("key_a")]).toEqual(["team", 1]);
    call.end();
    expect([shared.countOf("key_a"), shared.countOf("team-a")]).toEqual([0, 0]);
  });

  test("asks nothing of how many calls a team has that declares no bound", () => {
    const { registry, track } = open(new SharedCalls());
    let asked = 0;
    for (let calls = 0; calls < LIMITS.callsPerKey; calls++) track(keyRecord({ keyId: "key_a" }));
    const free = keyRecord({ keyId: "key_b" });
    const watched = new Proxy(free, {
      get(record, field) {
        if (field === "teamId" || field === "keyId") asked++;
        return Reflect.get(record, field);
      },
    });
    registry.fullOf(watched);
    // As without limits of teams: of the key alone, since there are as many calls as one may have.
    expect(asked).toBe(1);
  });

  test("is given back where it was taken, though the key declares no bound any more", () => {
    const shared = new SharedCalls();
    const { registry, track } = open(shared);
    const { call } = track(keyRecord({ keyId: "key_a", concurrent: 2 }));
    const former = keyRecord({ keyId: "key_a", concurrent: null });
    registry.revalidate(() => former, NOW);
    call.end();
    expect(shared.countOf("key_a")).toBe(0);
  });
});

describe("the body of a call", () => {
  test("is kept until the call ends, and not after", () => {
    const { registry, track } = open();
    const { call } = track(keyRecord(), request());
    expect(call.keep(1_000)).toBeUndefined();
    expect(registry.figures().keptBytes).toBe(1_000);
    call.end();
    expect(registry.figures().keptBytes).toBe(0);
    expect(call.keep(1)).toBe("process");
  });

  test("makes way for another's where all have no more room: its call is cut, unless the body is whole", () => {
    const { registry, track } = open();
    const keys = ["a", "b", "c"].map((name) => keyRecord({ keyId: `key_${name}`, teamId: `team_${name}` }));
    const [waiting, whole, next] = keys.map((key, i) => track(key, request(i === 1)));
    expect([waiting?.call.keep(300_000), whole?.call.keep(300_000)]).toEqual([undefined, undefined]);
    expect(next?.call.keep(300_000)).toBeUndefined();
    expect([waiting, whole, next].map((one) => one?.became)).toEqual([["no_room"], [], []]);
    expect(registry.figures()).toMatchObject({ calls: 2, keptBytes: 600_000, refusedBodies: 1 });
  });

  test("that no key stands for makes way with an answer", () => {
    const { registry, track } = open();
    let answers = 0;
    const body = registry.openBody({ keyId: "caller", teamId: "caller" }, request(), () => answers++);
    expect(body.keep(500_000)).toBeUndefined();
    expect(track(keyRecord(), request()).call.keep(500_000)).toBeUndefined();
    expect([answers, body.keep(1)]).toEqual([1, "process"]);
  });

  test("cuts its call when it comes too slowly, and not once it is whole", () => {
    const { registry, track } = open();
    const [slow, quick] = [request(), request()];
    const calls = [track(keyRecord(), slow), track(keyRecord(), quick), track(keyRecord())];
    registry.cutSlowBodies(0);
    quick.complete = true;
    registry.cutSlowBodies(30_000);
    expect(calls.map(({ became }) => became)).toEqual([["slow_body"], [], []]);
  });
});
