import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { PlatformKeyArgs, ProviderArgs } from "../../../infra/pulumi/generated/types.ts";
import { PlatformKey, PlatformTeam, Provider } from "../../../infra/pulumi/resources.ts";
import { itByNight } from "../../env/night-test.ts";
import { describeOnPulumi } from "../../env/pulumi.ts";
import { startApiProxy } from "./api-proxy.ts";

/** What a program may get wrong, past its compiler. */
const FAULTS: readonly { readonly wrong: object; readonly said: readonly string[] }[] = [
  {
    wrong: {
      name: "No Name",
      team: "",
      scope: [],
      scopes: ["memory:reed"],
      rateLimit: { requestsPerMinute: 0 },
      rotation: { overlap: "a day" },
      deliver: "file",
      state: "Revoked",
    },
    said: [
      'name: "No Name" is no name',
      "team: is missing",
      "scope: unknown property: did you mean scopes?",
      'scopes[0]: unknown value "memory:reed": did you mean memory:read?',
      "rateLimit.requestsPerMinute: must be at least 1",
      'rotation.overlap: "a day" is no duration',
      'deliver: must be "secret" or "none"',
      "state: a key is revoked with its resource",
    ],
  },
  { wrong: { preset: "MCPReadOnly", scopes: ["memory:read"] }, said: ["preset: "] },
];

describeOnPulumi("what cannot be done", ({ makeStack, manage, url, tokenFile }) => {
  const folder = mkdtempSync(join(tmpdir(), "keyplane-token-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  it("is said of the property that is wrong, and the state goes on from there", async () => {
    let wrong: object = {};
    const { stack, try: run } = await makeStack(async () => {
      const team = new PlatformTeam("team", { name: "refused" });
      // As a program in another language, or past the types.
      new PlatformKey("key", { team: "refused", ...wrong } as PlatformKeyArgs, { dependsOn: team });
    });
    for (const { wrong: args, said } of FAULTS) {
      wrong = args;
      const { out, failed } = await run(stack.preview());
      expect(failed).toBe(true);
      for (const text of said) expect(out).toContain(`has a problem: ${text}`);
    }
    // What only the server can know.
    wrong = { preset: "GatewayDefault", gatewayRef: { name: "nowhere" } };
    expect((await run(stack.up())).out).toContain("gatewayRef: there is no gateway nowhere in this team");
    wrong = { preset: "MCPReadOnly" };
    expect((await stack.up()).summary.resourceChanges).toMatchObject({ create: 1 });
  });

  itByNight("is said of the provider's configuration, which takes no token", async () => {
    let args: ProviderArgs & { token?: string } = {};
    const { stack, try: run } = await makeStack(async () => {
      const provider = new Provider("there", args);
      new PlatformTeam("team", { name: "configured" }, { provider });
    });
    for (const [wrong, said] of [
      [{ token: "kpt_canary" }, "a token has no place in the configuration"],
      [{ tokenFile: "kpt_canary" }, "a token has no place in the configuration"],
      [{ url: "keys.example.com" }, "url: must be an http or https URL"],
      [{ url: "https://me:canary@keys.example.com" }, "url: must be without credentials"],
      [{ tokenFile: join(folder, "absent") }, "absent cannot be read (ENOENT): see that it is there"],
    ] as const) {
      args = wrong;
      const { out, failed } = await run(stack.up());
      expect([failed, out], said).toEqual([true, expect.stringContaining(said)]);
    }
    expect(JSON.stringify(await stack.exportStack())).not.toContain("canary");
    args = { url, tokenFile };
    expect((await stack.up()).summary.resourceChanges).toMatchObject({ create: expect.any(Number) });
    expect((await manage("GET", "teams?name=configured")).body.items).toHaveLength(1);
  });

  it("is said of a token that does not do; one that is written anew is taken at once", async () => {
    const proxy = await startApiProxy(url);
    const file = join(folder, "token");
    const ended = `${btoa("{}")}.${btoa(JSON.stringify({ exp: 1_700_000_000 }))}.x`;
    writeFileSync(file, ended);
    const { stack, try: run } = await makeStack(
      async () => {
        new PlatformTeam("team", { name: "renewed" });
      },
      { env: { KEYPLANE_URL: proxy.url, KEYPLANE_TOKEN_FILE: file } },
    );
    const { out, failed } = await run(stack.up());
    expect(failed).toBe(true);
    expect(out).toContain(`refuses the token of ${file}: it ended at 2023-11-14T22:13:20Z`);
    expect(out).not.toContain(ended);

    // Written while the request with the old one is under way.
    const token = await readFile(tokenFile, "utf8");
    const sent: string[] = [];
    proxy.watch(({ token: one }) => {
      sent.push(one);
      writeFileSync(file, token);
      return "passes";
    });
    await stack.up();
    expect(sent).toEqual([ended, token.trim()]);
    await proxy.close();
  });
});
