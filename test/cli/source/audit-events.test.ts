import { expect, test } from "vitest";
import { auditEvents } from "../../../cli/source/audit-events.ts";
import type { AuditJson } from "../../../server/management/audit/audit-json.ts";

/** A log of the management API, searched by action alone. */
function logOf(events: readonly AuditJson[]) {
  return {
    async *searchAudit({ action }: { readonly action?: string | undefined }, max: number) {
      yield* events.filter((event) => action === undefined || event.action === action).slice(0, max);
    },
  };
}

const event = (id: number, action: string): AuditJson => ({
  ...{ id, action, actor: "ann", at: "2026-11-21T12:00:00.000Z", teamId: "team_a", team: "a" },
  ...{ keyId: "key_1", namespace: "ns", name: "reader", detail: {} },
});

test("a key's events are found behind thousands of refused requests, the oldest first", async () => {
  const refused = Array.from({ length: 3_000 }, (_, i) => event(10_000 - i, "request.refused"));
  const log = logOf([
    event(20_000, "key.made_by_a_later_build"),
    ...refused,
    event(3, "key.revoked"),
    event(2, "key.activated"),
    event(1, "key.reserved"),
  ]);
  const found = await auditEvents(log, { kind: "PlatformKey", namespace: "ns", name: "reader" });
  expect(found.map(({ reason, type }) => [reason, type])).toEqual([
    ["key.reserved", "Normal"],
    ["key.activated", "Normal"],
    ["key.revoked", "Warning"],
    ["key.made_by_a_later_build", "Normal"],
  ]);
});
