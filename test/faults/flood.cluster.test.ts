/** A hundred declarations at once on a real cluster; ten thousand with KEYPLANE_NIGHTLY. */
import { expect, it } from "vitest";
import { describeWorldsOnKubernetes } from "../controller/fixtures/kubernetes-setup.ts";
import { key, startWorld } from "../controller/fixtures/world.ts";
import type { ApiCall } from "../env/kubernetes/api-proxy.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { behindProxies } from "./behind-proxies.ts";

const COUNT = NIGHTLY ? 10_000 : 100;
/** No key waits for longer, in milliseconds, or than so many times what is usual, where the machine is slow. */
const MAX_WAIT_MS = 60_000;
const UNUSUAL = 3;
/** How many requests the controller may have under way at once, watches apart. */
const MAX_AT_ONCE = 32;
const TIMEOUT_MS = NIGHTLY ? 3_600_000 : 300_000;

describeWorldsOnKubernetes("a flood of declarations", (setup, kubernetes) => {
  it(
    `c20: of ${COUNT} keys that are declared at once none starves, and the API server is not overrun`,
    async (context) => {
      const { api, side, setup: behind } = await behindProxies(context, kubernetes(), setup());
      const world = await startWorld(context, behind, key("before"));
      const writtenAt = new Map<string, number>();
      const waits: number[] = [];
      const order: string[] = [];
      let together = 0;
      const watch = setInterval(() => {
        const open = api.calls.slice(-500).filter((call) => !call.isWatch && call.isOpen());
        together = Math.max(together, open.length);
        for (const [name, at] of writtenAt) {
          if (world.condition("Ready", name) !== "True/Ready") continue;
          waits.push(performance.now() - at);
          writtenAt.delete(name);
          order.push(name);
        }
      }, 200);
      context.onTestFinished(() => clearInterval(watch));
      // Its place is in the midst of them, behind which there are hundreds.
      const unlucky = `key-${COUNT / 2}`;
      const isItsSecret = ({ method, path, body }: ApiCall) =>
        method === "POST" && path.endsWith("/secrets") && body.includes(`"name":"${unlucky}"`);
      const unanswered = api.once(isItsSecret, { do: "cut" });
      const names = Array.from({ length: COUNT }, (_, i) => `key-${i}`);
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          for (let name = names.pop(); name !== undefined; name = names.pop()) {
            await side().write(key(name));
            writtenAt.set(name, performance.now());
          }
        }),
      );
      await world.write(key("before", { displayName: "changed in the midst of it" }));
      writtenAt.set("before", performance.now());
      await until("every key is ready", () => writtenAt.size === 0, { timeoutMs: TIMEOUT_MS });
      await unanswered;
      expect(order.indexOf(unlucky)).toBeLessThan(COUNT * 0.9);
      expect(together).toBeLessThanOrEqual(MAX_AT_ONCE);
      const usual = waits.toSorted((a, b) => a - b)[waits.length >> 1] ?? 0;
      expect(Math.max(...waits)).toBeLessThan(Math.max(MAX_WAIT_MS, UNUSUAL * usual));
      expect((await world.stored("before")).policy.displayName).toBe("changed in the midst of it");
    },
    TIMEOUT_MS,
  );
});
