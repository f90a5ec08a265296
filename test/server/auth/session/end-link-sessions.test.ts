import { expect, test } from "vitest";
import { managementToken } from "../../../../server/auth/management/management-token.ts";
import { managementRoutes } from "../../../../server/management/routes.ts";
import { openMigrated } from "../../../env/database/engines.ts";
import { startHarness } from "../../harness.ts";
import { signIn } from "./sign-in.ts";

const TOKEN = "kpt_the-token-of-this-installation";

test("b431: sessions by one-time links end by hand, under the name that the audit log gives them", async () => {
  const store = await openMigrated();
  const harness = await startHarness({
    mounts: [{ at: "/api/v1", routes: managementRoutes }],
    store,
    managementToken: managementToken("bootstrap-token", TOKEN),
  });
  try {
    harness.clock.set(Date.now());
    const { cookie } = await signIn(store);
    const list = async () => (await fetch(`${harness.url}/api/v1/keys`, { headers: { cookie } })).status;
    expect(await list()).toBe(200);
    const ended = await fetch(`${harness.url}/api/v1/ended-sessions`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ subject: "console-link" }),
    });
    expect([ended.status, await ended.json()]).toEqual([200, { ended: 1 }]);
    expect(await list()).toBe(401);
  } finally {
    await harness.close();
    await store.close();
  }
});
