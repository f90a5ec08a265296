import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../runtime/clock.ts";
import { activateVersion } from "../../../store/keys/lifecycle/key-versions.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { makeTeam, reserveKey, run, unique } from "../../store/fixtures.ts";
import { type Api, startApi } from "./api.ts";

const HOUR = 3_600_000;

describeNightlyOnEachEngine("a server whose own clock is wrong", (store) => {
  describe.each([-HOUR, HOUR])("by %d ms", (off) => {
    let api: Api;
    let team: Awaited<ReturnType<typeof makeTeam>>;
    beforeAll(async () => {
      api = await startApi(store(), {}, { ...systemClock, now: () => systemClock.now() + off });
      team = await makeTeam(store());
    });
    afterAll(() => api.close());

    const isNow = (time: string, after = 0) => Math.abs(Date.parse(time) - Date.now() - after) < HOUR / 6;

    test("c50: makes keys that live, and overlap, for as long as they should", async () => {
      const spec = { preset: "MCPReadOnly", expiresAfter: "40m" };
      const { body: made } = await api.send("POST", "/keys", { name: unique("made"), team: team.name, spec });
      expect(await api.tryKey(made.secret)).toBe(200);
      expect(isNow(made.versions[0].mintedAt)).toBe(true);
      expect(isNow(made.expiresAt, (HOUR * 2) / 3)).toBe(true);

      const { body: next } = await api.send("POST", `/keys/${made.id}/versions`, { overlap: "30m" });
      expect([await api.tryKey(made.secret), await api.tryKey(next.secret)]).toEqual([200, 200]);
      expect(next.versions).toMatchObject([{ state: "active" }, { state: "retiring" }]);
      expect(isNow(next.versions[1].retiresAt, HOUR / 2)).toBe(true);
    });

    test("c50: has a rotation by hand be asked for now, and a revocation be of now", async () => {
      const { key } = await reserveKey(store(), team);
      await run(store(), (tx) => activateVersion(tx, { keyId: key.id, number: 1, overlapMs: 0 }));
      await api.send("POST", `/keys/${key.id}/rotate`, {});
      await api.send("POST", `/keys/${key.id}/revoke`, {});
      const { body } = await api.send("GET", `/keys/${key.id}`);
      expect([isNow(body.rotationRequestedAt), isNow(body.revocation.at)]).toEqual([true, true]);
    });
  });
});
