import { readFileSync } from "node:fs";
import { secret } from "@pulumi/pulumi";
import type { EngineEvent } from "@pulumi/pulumi/automation/index.js";
import { expect, it } from "vitest";
import type { ModelGatewayArgs } from "../../../infra/pulumi/generated/types.ts";
import { ModelGateway, PlatformKey, PlatformTeam } from "../../../infra/pulumi/resources.ts";
import { describeOnPulumi } from "../../env/pulumi.ts";
import { textsBelow } from "./files.ts";

const CANARIES = [
  "sk-canary-of-the-provider",
  "sk-canary-of-another",
  "canary for people",
  "canary-of-a-name",
] as const;
const [CREDENTIAL, ANOTHER, DISPLAYED, NAME] = CANARIES;
const FULL_KEY = /inf_[0-9A-Za-z]{57}/;

describeOnPulumi("what Pulumi keeps and prints", ({ makeStack, tokenFile }) => {
  it("b75: holds no key and no credential in clear, whatever is run and whatever goes wrong", async () => {
    // Not marked as a secret by the program: whoever writes it should not have to know.
    let upstreams: ModelGatewayArgs["upstreams"] = [
      { name: "openai", dialect: "openai", baseURL: "https://api.example.com", credential: CREDENTIAL },
    ];
    let displayName: string = DISPLAYED;
    let trigger = "1";
    const {
      stack,
      folder,
      cli,
      try: run,
    } = await makeStack(async () => {
      const { name: team } = new PlatformTeam("team", { name: "kept" });
      new ModelGateway("main", { team, upstreams });
      const key = new PlatformKey("key", {
        team,
        preset: "MCPReadOnly",
        displayName: secret(displayName),
        rotation: { trigger, overlap: "1h" },
      });
      const none = new PlatformKey("none", { team, name: secret(NAME), preset: "MCPReadOnly", deliver: "none" });
      return { secret: key.secret, previous: key.previousSecret, none: none.secret, prefix: key.prefix };
    });
    const printed: string[] = [];
    const events: EngineEvent[] = [];
    const options = {
      onEvent: (event: EngineEvent) => events.push(event),
      onError: (text: string) => printed.push(text),
    };
    const step = async (operation: Promise<{ stdout: string }>) => {
      const { out, failed } = await run(operation);
      printed.push(out);
      return failed;
    };

    expect(await step(stack.preview({ diff: true, ...options }))).toBe(false);
    expect(await step(stack.up({ diff: true, ...options }))).toBe(false);
    const first = await stack.outputs();
    expect(first.secret).toEqual({ value: expect.stringMatching(FULL_KEY), secret: true });
    expect([first.none, first.previous]).toEqual([undefined, undefined]);

    trigger = "2";
    upstreams = [{ name: "openai", dialect: "openai", baseURL: "https://api.example.com/v2", credential: ANOTHER }];
    expect(await step(stack.preview({ diff: true, ...options }))).toBe(false);
    expect(await step(stack.up({ diff: true, refresh: true, ...options }))).toBe(false);
    const second = await stack.outputs();
    expect(second.previous).toEqual(first.secret);

    // What is wrong is said of the very values that are secret.
    displayName = `${DISPLAYED} ${"x".repeat(300)}`;
    upstreams = [
      { name: "openai", dialect: "openai", baseURL: "https://api.example.com", credential: `${CREDENTIAL} ` },
    ];
    expect(await step(stack.up(options))).toBe(true);
    expect(await step(stack.refresh(options))).toBe(false);
    const exported = await cli("stack", "export");
    expect(exported).toMatchObject({ failed: false, out: expect.stringContaining('"ciphertext"') });
    printed.push(exported.out, (await cli("stack", "output")).out, JSON.stringify(events.filter(isOurs)));

    const files = textsBelow(folder);
    expect(files.length).toBeGreaterThan(3);
    expect(files.some(([file]) => file.includes("/stacks/"))).toBe(true);
    const everything = [...files, ...printed.map((text, i): [string, string] => [`printed ${i}`, text])];
    const token = readFileSync(tokenFile, "utf8").trim();
    const leaks = everything.filter(
      ([, text]) => FULL_KEY.test(text) || [...CANARIES, token].some((canary) => text.includes(canary)),
    );
    expect(leaks).toEqual([]);
    // It would be found.
    expect(printed.some((text) => text.includes(String(second.prefix?.value)))).toBe(true);
    await stack.destroy();
  });
});

/** Pulumi's own library for Node logs each answer in full at its debug level, whoever's the secrets are (docs/pulumi.md). */
function isOurs({ diagnosticEvent }: EngineEvent): boolean {
  return diagnosticEvent?.message.startsWith("RegisterResource RPC finished") !== true;
}
