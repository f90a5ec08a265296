import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkIssuers } from "../../../cli/doctor/server.ts";
import { CONSOLE } from "../../../server/auth/session/return-to.ts";
import { sessionRoutes } from "../../../server/auth/session/routes.ts";
import { openMigrated } from "../../env/database/engines.ts";
import { freePort } from "../../env/free-port.ts";
import { CLIENT_SECRET, startProvider } from "../../server/auth/session/provider.ts";
import { startHarness } from "../../server/harness.ts";

test("doctor of a server finds the issuer by which people cannot sign in", async (context) => {
  const [store, folder, provider] = await Promise.all([
    openMigrated(),
    mkdtemp(join(tmpdir(), "keyplane-issuers-")),
    startProvider(),
  ]);
  const secretFile = join(folder, "secret");
  await writeFile(secretFile, CLIENT_SECRET);
  const away = `http://127.0.0.1:${await freePort()}`;
  const startWith = async (issuers: readonly string[]) => {
    const harness = await startHarness({
      mounts: [{ at: CONSOLE, routes: sessionRoutes }],
      store,
      config: {
        oidc: { issuers, audience: "keyplane", adminGroups: [] },
        consoleClients: issuers.map((issuer) => ({ issuer, clientId: provider.clientId, secretFile })),
      },
    });
    context.onTestFinished(() => harness.close());
    provider.open(harness.url);
    return new URL(harness.url);
  };
  context.onTestFinished(async () => {
    provider.close();
    await rm(folder, { recursive: true });
    await store.close();
  });
  const both = await checkIssuers({ url: await startWith([provider.url, away]) });
  expect(both.map(({ severity, message }) => [severity, message])).toEqual([
    ["ok", `people can sign in by ${provider.url}`],
    ["error", `people cannot sign in by ${away}: the server got no valid answer from it (503)`],
  ]);
  expect(both[1]?.action).toContain("trustedCa");
  expect(await checkIssuers({ url: await startWith([]) })).toEqual([]);
});
