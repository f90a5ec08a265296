import { describe, expect, it } from "vitest";
import { DEFAULT_OVERLAP } from "../../../../domain/key/declaration/declared-key.ts";
import type { ObservedKey } from "../../../../domain/key/observed/observed-key.ts";
import { planKey } from "../../../../domain/key/plan/plan-key.ts";
import { declare, newWorld, observe, rotated, step, type World } from "../exploration/world.ts";

const NOW = 1_000_000;
const observed = (world: World): ObservedKey => ({
  ...observe(world, world.declaration ?? expect.fail("it is declared")),
  confirmed: true,
});
const ours = {
  state: "ours",
  immutable: false,
  deleting: false,
  rendered: false,
  owned: true,
  collected: true,
} as const;

/** What is planned at a moment, its time to look again, and what Ready says. */
function planned(key: ObservedKey, now: number) {
  const { action, requeueAt, conditions } = planKey(key, now);
  const ready = conditions.find(({ type }) => type === "Ready");
  return { does: action.do, requeueAt, ready: `${ready?.status} ${ready?.reason}` };
}

describe("a Secret that something else changed as it was written", () => {
  const delivered: ObservedKey = {
    ...observed(rotated(DEFAULT_OVERLAP, 0)),
    secret: { ...ours, holds: 1 },
    altered: { version: 1, fields: ["metadata.ownerReferences"], isShownInAnswer: true, writtenAt: NOW },
  };

  it("c69: is ready while its data is as declared, and as soon as all is", () => {
    const altered = { version: 1, fields: ["data"], isShownInAnswer: true, writtenAt: NOW } as const;
    expect(planned(delivered, NOW).ready).toBe("True SecretAltered");
    expect(planned({ ...delivered, altered }, NOW).ready).toBe("True SecretAltered");
    const inData = { ...altered, fields: ["data[url]"] } as const;
    expect(planned({ ...delivered, altered: inData }, NOW).ready).toBe("False SecretAltered");
    const mended = { ...delivered, secret: { ...ours, holds: 1, rendered: true } } as const;
    expect(planned(mended, NOW)).toMatchObject({ does: "Nothing", ready: "True Ready" });
  });

  it("c69: and that lacks the version on its way gets that one again a minute later", () => {
    const reserved = step(step(newWorld(declare())));
    const altered = { version: 1, fields: ["data[api-key]"], isShownInAnswer: true, writtenAt: NOW } as const;
    const key: ObservedKey = { ...observed(reserved), secret: { ...ours, holds: "unknown" }, altered };
    expect(key.held).toBe(1);
    expect(planned(key, NOW)).toEqual({
      does: "Nothing",
      requeueAt: NOW + 60_000,
      ready: "False SecretAltered",
    });
    expect(planned(key, NOW + 60_000)).toMatchObject({ does: "Publish" });
    expect(planned({ ...key, altered: null }, NOW)).toMatchObject({ does: "Publish" });
    const suspended = { ...key, declared: { ...key.declared, state: "Suspended" } } as const;
    expect(planned(suspended, NOW).ready).not.toContain("SecretAltered");
  });
});
