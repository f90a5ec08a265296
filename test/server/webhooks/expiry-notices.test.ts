import { sql } from "kysely";
import { expect, test } from "vitest";
import { noticeExpiries } from "../../../server/webhooks/expiry-notices.ts";
import { change } from "../../../store/database/change.ts";
import { recordNotice } from "../../../store/keys/events/key-notices.ts";
import { reserveVersion } from "../../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion } from "../../../store/keys/lifecycle/key-versions.ts";
import { updateKeyPolicy } from "../../../store/keys/lifecycle/policy-update.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { policyOf, reservationOf } from "../../store/fixtures.ts";
import { deliveriesOf, makeNotifiedTeam, SECRET } from "./fixtures.ts";

const DAY = 24 * 3_600_000;

describeNightlyOnEachEngine("The end of a key that no declaration governs", (opened) => {
  /** A key that was made some days ago. */
  async function makeKey(
    team: Awaited<ReturnType<typeof makeNotifiedTeam>>,
    {
      expiresAt,
      expiresAfter = null,
      cluster = "api",
    }: { expiresAt: number | null; expiresAfter?: number | null; cluster?: string },
  ) {
    const store = opened();
    const policy = policyOf({ expiresAt });
    const reservation = reservationOf({ ...team, cluster }, { policy, expiresAfter, key: { namespace: "" } });
    const keyId = reservation.key.id;
    await change(store, null, (tx) => reserveVersion(tx, reservation));
    await change(store, null, (tx) => activateVersion(tx, { keyId, number: 1, overlapMs: 0 }));
    await sql`update keys set created_at = created_at - interval '20 days' where id = ${keyId}`.execute(store.db);
    await sql`update key_versions set minted_at = minted_at - interval '20 days' where key_id = ${keyId}`.execute(
      store.db,
    );
    return { keyId, policy };
  }

  test("is announced a week before it comes, once, and again when it is another", async () => {
    const store = opened();
    const team = await makeNotifiedTeam(store, ["https://hooks.example.com/keys"]);
    const silent = await makeNotifiedTeam(store, []);
    const soon = Math.floor((Date.now() + 5 * DAY) / 1_000) * 1_000;
    const key = await makeKey(team, { expiresAt: soon });
    for (const other of [
      { expiresAt: Date.now() + 8 * DAY },
      { expiresAt: null },
      { expiresAt: Date.now() - DAY },
      // Its controller announces it.
      { expiresAt: soon, cluster: "c1" },
    ]) {
      await makeKey(team, other);
    }
    await makeKey(silent, { expiresAt: soon });
    const look = () => noticeExpiries(store, new AbortController().signal);
    const notices = async () =>
      (await deliveriesOf(store, team.teamId)).map(({ key_id, event, data }) => [key_id, event, data.expiresAt]);
    await Promise.all([look(), look()]);
    await look();
    const timeOf = (ms: number) => new Date(ms).toISOString().replace(".000Z", "Z");
    expect(await notices()).toEqual([[key.keyId, "key.expiring", timeOf(soon)]]);

    const sooner = soon - DAY;
    const update = {
      keyId: key.keyId,
      policy: { ...key.policy, expiresAt: sooner },
      generation: 2,
      expiresAfter: null,
    };
    await change(store, null, (tx) => updateKeyPolicy(tx, update));
    await look();
    expect((await notices()).map(([, , at]) => at).sort()).toEqual([timeOf(sooner), timeOf(soon)]);
    // A webhook that asks for it later is notified of ends that were not announced yet.
    await silent.save({
      webhooks: [{ url: "https://hooks.example.com/x", events: ["key.expiring"], secret: SECRET }],
      generation: 2,
    });
    await look();
    expect(await deliveriesOf(store, silent.teamId)).toHaveLength(1);
  });

  test("is not announced again where its controller did so, which knows the end to a second", async () => {
    const store = opened();
    const team = await makeNotifiedTeam(store, ["https://hooks.example.com/keys"]);
    const second = Math.floor((Date.now() + 5 * DAY) / 1_000) * 1_000;
    const { keyId } = await makeKey(team, { expiresAt: second + 345 });
    const detail = { expiresAt: new Date(second).toISOString() };
    await change(store, null, (tx) => recordNotice(tx, { keyId, kind: "key.expiring", mark: second, detail }));
    await noticeExpiries(store, new AbortController().signal);
    expect(await deliveriesOf(store, team.teamId)).toHaveLength(1);
  });
});
