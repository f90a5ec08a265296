import { readFileSync } from "node:fs";
import { secret } from "@pulumi/pulumi";
import type { EngineEvent } from "@pulumi/pulumi/automation/index.js";
import { expect, it } from "vitest";
import type { ModelGatewayArgs } from "../../../infra/pulumi/generated/types.ts";
import { ModelGateway, PlatformKey, PlatformTeam } from "../../../infra/pulumi/resources.ts";
import { describeOnPulumi, type TestStack } from "../../env/pulumi.ts";
import { textsBelow } from "./files.ts";

const CANARIES = [
  "sk-canary-of-the-provider",
  "sk-canary-of-another",
  "canary for people",
  "canary-of-a-name",
] as const;
const [CREDENTIAL, ANOTHER, DISPLAYED, NAME] = CANARIES;
const FULL_KEY = /inf_[0-9A-Za-z]{57}/;

const upstreamsWith = (credential: string, path = ""): ModelGatewayArgs["upstreams"] => [
  { name: "openai", dialect: "openai", baseURL: `https://api.example.com${path}`, credential },
];

/** A program with a canary wherever one can be put, which declares what is set in `declared`. */
function makeProgram() {
  const declared = { upstreams: upstreamsWith(CREDENTIAL), displayName: DISPLAYED as string, trigger: "1" };
  const program = async () => {
    const { name: team } = new PlatformTeam("team", { name: "kept" });
    // The credential is not marked as a secret by the program: its author should not have to know.
    new ModelGateway("main", { team, upstreams: declared.upstreams });
    const key = new PlatformKey("key", {
      team,
      preset: "MCPReadOnly",
      displayName: secret(declared.displayName),
      rotation: { trigger: declared.trigger, overlap: "1h" },
    });
    const none = new PlatformKey("none", { team, name: secret(NAME), preset: "MCPReadOnly", deliver: "none" });
    return { secret: key.secret, previous: key.previousSecret, none: none.secret, prefix: key.prefix };
  };
  return { declared, program };
}

/** Runs operations on a stack, and keeps all that they print and all events of the engine. */
function makeRecorder({ try: outcomeOf }: TestStack) {
  const printed: string[] = [];
  const events: EngineEvent[] = [];
  return {
    printed,
    /** For each operation. */
    options: {
      onEvent: (event: EngineEvent) => void events.push(event),
      onError: (text: string) => void printed.push(text),
    },
    eventsText: () => JSON.stringify(events.filter(isOurs)),
    /** Whether the operation succeeds. */
    async succeeds(operation: Promise<{ stdout: string }>): Promise<boolean> {
      const { out, failed } = await outcomeOf(operation);
      printed.push(out);
      return !failed;
    },
  };
}

describeOnPulumi("what Pulumi keeps and prints", ({ makeStack, tokenFile }) => {
  it("b75: holds no key and no credential in clear, whatever is run and whatever goes wrong", async () => {
    const { declared, program } = makeProgram();
    const made = await makeStack(program);
    const { stack, folder, cli } = made;
    const { options, succeeds, printed, eventsText } = makeRecorder(made);

    expect(await succeeds(stack.preview({ diff: true, ...options }))).toBe(true);
    expect(await succeeds(stack.up({ diff: true, ...options }))).toBe(true);
    const first = await stack.outputs();
    expect(first.secret).toEqual({ value: expect.stringMatching(FULL_KEY), secret: true });
    expect([first.none, first.previous]).toEqual([undefined, undefined]);

    Object.assign(declared, { trigger: "2", upstreams: upstreamsWith(ANOTHER, "/v2") });
    expect(await succeeds(stack.preview({ diff: true, ...options }))).toBe(true);
    expect(await succeeds(stack.up({ diff: true, refresh: true, ...options }))).toBe(true);
    const second = await stack.outputs();
    expect(second.previous).toEqual(first.secret);

    // What is wrong is said of the very values that are secret.
    const wrong = { displayName: `${DISPLAYED} ${"x".repeat(300)}`, upstreams: upstreamsWith(`${CREDENTIAL} `) };
    Object.assign(declared, wrong);
    expect(await succeeds(stack.up(options))).toBe(false);
    expect(await succeeds(stack.refresh(options))).toBe(true);
    const exported = await cli("stack", "export");
    expect(exported).toMatchObject({ failed: false, out: expect.stringContaining('"ciphertext"') });
    printed.push(exported.out, (await cli("stack", "output")).out, eventsText());

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
  });
});

/**
 * Pulumi's own library for Node logs each answer in full at its debug level, also the secrets of other providers
 * (docs/guides/pulumi.md).
 */
function isOurs({ diagnosticEvent }: EngineEvent): boolean {
  return diagnosticEvent?.message.startsWith("RegisterResource RPC finished") !== true;
}
