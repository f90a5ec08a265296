/** Fifty keys that end with their namespace on a real cluster; 2,500 with KEYPLANE_NIGHTLY. */
import { sql } from "kysely";
import { expect, it } from "vitest";
import { describeWorldsOnKubernetes } from "../controller/fixtures/kubernetes-setup.ts";
import { key, NAMESPACE, startWorld } from "../controller/fixtures/world.ts";
import type { ApiCall } from "../env/kubernetes/api-proxy.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { behindProxies } from "./behind-proxies.ts";

const COUNT = NIGHTLY ? 2_500 : 50;
const TIMEOUT_MS = NIGHTLY ? 3_600_000 : 600_000;
const PATIENCE = { timeoutMs: TIMEOUT_MS };

describeWorldsOnKubernetes("a namespace of many keys", (setup, kubernetes) => {
  it(
    `c71: of ${COUNT} keys that are deleted with their namespace each is revoked before an event, a Secret or a finalizer of any of them`,
    async (context) => {
      const { api, side, setup: behind } = await behindProxies(context, kubernetes(), setup());
      const kept = [key("guarded", { deletionProtection: true }), key("retained", { deletionPolicy: "Retain" })];
      const world = await startWorld(context, behind, ...kept);
      const names = Array.from({ length: COUNT }, (_, i) => `key-${i}`);
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          for (let name = names.pop(); name !== undefined; name = names.pop()) await side().write(key(name));
        }),
      );
      const { db } = world.store;
      const cluster = world.clusterUid();
      const count = async (what: ReturnType<typeof sql<number>>) => {
        const { rows } = await sql<{ count: number }>`select ${what}::int as count from keys
          left join key_versions v on v.key_id = keys.id and v.state in ('active', 'revoked')
          where cluster = ${cluster}`.execute(db);
        return rows[0]?.count ?? 0;
      };
      const living = () => count(sql<number>`count(*) filter (where v.state = 'active')`);
      await until("every key is delivered", async () => (await living()) === COUNT + kept.length, PATIENCE);
      await world.rest();
      await world.stop();

      const namespace = `${NAMESPACE}${side().tag}`;
      const path = `/apis/keyplane.dev/v1alpha1/namespaces/${namespace}/platformkeys`;
      await kubernetes().request("DELETE", `/api/v1/namespaces/${namespace}`);
      await kubernetes().request("DELETE", path);
      const effects: { readonly call: ApiCall; readonly working: number }[] = [];
      api.rule(async (call) => {
        const isOfSecret = call.path.includes("/secrets/");
        const isEffect = call.path.includes(`/namespaces/${namespace}/`) && (call.method !== "GET" || isOfSecret);
        if (isEffect) effects.push({ call, working: await living() });
        return undefined;
      });
      await world.start();
      await until("they are gone", () => world.cluster().list("PlatformKey").length === 1, PATIENCE);
      expect(effects.find(({ working }) => working > kept.length)).toBeUndefined();
      expect(await living(), "the protected one and the released one").toBe(kept.length);
      expect(await count(sql<number>`count(distinct v.changed_tx) filter (where v.state = 'revoked')`)).toBeLessThan(
        COUNT / 3,
      );
      const events = effects.filter(({ call }) => call.path.endsWith("/events"));
      expect(events.length, "which the namespace refuses").toBeLessThan(17);
      expect(world.lines.filter((line) => line.startsWith("no event for"))).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
