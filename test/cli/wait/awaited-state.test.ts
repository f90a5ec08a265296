import { describe, expect, test } from "vitest";
import type { ListedObject } from "../../../cli/source/source.ts";
import { parseAwaitedState } from "../../../cli/wait/awaited-state.ts";

type Condition = { status: "True" | "False"; observedGeneration?: number };

const key = (generation: number, ready?: Condition, observedGeneration?: number): ListedObject<"PlatformKey"> => ({
  kind: "PlatformKey",
  metadata: { namespace: "dev", name: "agent", generation },
  status: {
    ...(observedGeneration !== undefined && { observedGeneration }),
    ...(ready && { conditions: [{ type: "Ready", reason: "Why", message: "So.", lastTransitionTime: "", ...ready }] }),
  },
  json: {},
});

describe("what is waited for", () => {
  test.each([
    ["condition=Ready", key(1, { status: "True" }), true],
    ["condition=ready=true", key(1, { status: "True" }), true],
    ["condition=Ready", key(1, { status: "False" }), false],
    ["condition=Ready=False", key(1, { status: "False" }), true],
    ["condition=Stalled", key(1, { status: "True" }), false],
    ["condition=Ready", key(1), false],
    ["condition=Ready", undefined, false],
    // Of the declaration before its last change, as kubectl has it.
    ["condition=Ready", key(2, { status: "True", observedGeneration: 1 }), false],
    ["condition=Ready", key(2, { status: "True", observedGeneration: 2 }), true],
    ["condition=Ready", key(2, { status: "True" }, 1), false],
    ["condition=Ready", key(2, { status: "True" }, 2), true],
    // Of a file whose last edit is refused.
    ["condition=Ready", { ...key(1, { status: "True" }), notCurrent: "It cannot be read." }, false],
    ["delete", key(1, { status: "True" }), false],
    ["delete", undefined, true],
  ])("%s of %j: %s", (text, object, isMet) => {
    expect(parseAwaitedState(text).isMet(object)).toBe(isMet);
  });

  test("an object is gone, too, where another of its name has taken its place", () => {
    const withUid = (uid?: string) => ({ ...key(1), metadata: { ...key(1).metadata, ...(uid && { uid }) } });
    const { isMet } = parseAwaitedState("delete");
    expect(isMet(withUid("b"), withUid("a"))).toBe(true);
    expect(isMet(withUid("a"), withUid("a"))).toBe(false);
    // Admitted meanwhile.
    expect(isMet(withUid("a"), withUid())).toBe(false);
  });

  test.each([
    [key(1, { status: "False" }), "Ready is False (Why): So."],
    [key(1), "it has no condition Ready"],
    [key(2, { status: "True", observedGeneration: 1 }), "its last change has not been reconciled yet"],
    [undefined, "there is none"],
  ])("what is so instead is said of %j", (object, says) => {
    expect(parseAwaitedState("condition=Ready").instead(object)).toBe(says);
  });

  test.each([
    ["condition=Redy", "there is no such condition: did you mean Ready?"],
    ["condition=", "write condition=TYPE, condition=TYPE=STATUS or delete"],
    ["condition=Ready=Flase", "there is no such status: did you mean False?"],
    ["gone", "write condition=TYPE, condition=TYPE=STATUS or delete"],
  ])("%s is nothing to wait for", (text, says) => {
    expect(() => parseAwaitedState(text)).toThrow(says);
  });
});
