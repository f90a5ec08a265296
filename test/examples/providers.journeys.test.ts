/** From the README to a real provider: each example by its command, on a stand-in that knows what that provider knows. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import { expect, onTestFinished, test } from "vitest";
import { findCondition } from "../../domain/conditions.ts";
import { keepCredential } from "../../examples/quickstart/provider-credential.ts";
import { ROOT, read } from "../architecture/sources.ts";
import { type Home, makeHome, startUp } from "../cli/up.ts";
import { blocksIn } from "../env/blocks.ts";
import { COMPILE_CACHE } from "../env/compile-cache.ts";
import { copyEmbedded } from "../env/database/embedded-database.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { STRICT, startStrict } from "./strict-provider.ts";

const run = promisify(execFile);
const CREDENTIAL = "sk-credential-of-the-provider";
const hello = [{ role: "user" as const, content: "Hello" }];

type Example = {
  readonly name: keyof typeof STRICT;
  readonly variable: string;
  readonly host: string;
  readonly chat: string;
  readonly embedding?: string;
  /** Asks by the provider's own SDK. */
  readonly ask: (gateway: string, apiKey: string) => Promise<unknown>;
};

const EXAMPLES: readonly Example[] = [
  {
    ...{ name: "openai", variable: "OPENAI_API_KEY", host: "https://api.openai.com" },
    ...{ chat: "gpt-5-mini", embedding: "text-embedding-3-small" },
    ask: (gateway, apiKey) =>
      new OpenAI({ baseURL: `${gateway}/v1`, apiKey }).chat.completions.create({ model: "fast-chat", messages: hello }),
  },
  {
    ...{ name: "anthropic", variable: "ANTHROPIC_API_KEY", host: "https://api.anthropic.com" },
    chat: "claude-sonnet-4-5",
    ask: (gateway, apiKey) =>
      new Anthropic({ baseURL: gateway, apiKey }).messages.create({
        model: "fast-chat",
        max_tokens: 9,
        messages: hello,
      }),
  },
  {
    ...{ name: "gemini", variable: "GEMINI_API_KEY", host: "https://generativelanguage.googleapis.com" },
    ...{ chat: "gemini-2.5-flash", embedding: "gemini-embedding-001" },
    ask: (gateway, apiKey) =>
      new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway } }).models.generateContent({
        ...{ model: "fast-chat", contents: "Hello" },
      }),
  },
];

/** As the README says it. */
const [, START = ""] = /^(npm start -- --example) openai$/m.exec(read("README.md")) ?? [];

test("docs/guides/providers.md says the command of the README, and the examples' models", () => {
  const page = read("docs/guides/providers.md");
  const blocks = blocksIn(read("README.md")).filter(({ heading }) => heading === "A real model provider");
  expect(blocks).toHaveLength(2);
  for (const { text } of blocks) expect(page).toContain(text);
  for (const { variable, chat, embedding = chat } of EXAMPLES) {
    for (const word of [variable, chat, embedding]) expect(page).toContain(`\`${word}\``);
  }
});

test.each(EXAMPLES)("examples/$name comes up with the credential of $variable", async (example) => {
  const { name, host, chat, embedding, ask } = example;
  const home = makeHome();
  onTestFinished(home.remove);
  const { manifests, data } = home;
  const provider = await startStrict(STRICT[name], { credential: CREDENTIAL, chat, ...(embedding && { embedding }) });
  onTestFinished(() => provider.close());
  cpSync(join(ROOT, "examples", name), manifests, { recursive: true });
  const gateway = join(manifests, "gateway.yaml");
  expect(read(`examples/${name}/gateway.yaml`)).toContain(`baseURL: ${host}\n`);
  writeFileSync(gateway, readFileSync(gateway, "utf8").replace(host, provider.url));
  await copyEmbedded(join(data, "db"));

  const up = await (name === "openai" || NIGHTLY ? startByCommand : startHere)(home, example);
  onTestFinished(async () => void (await up.stop()));
  const call = await until("the calls to paste", () => /^curl .*\/g\/research-main\/.*$/m.exec(up.output())?.[0]);
  expect((await run("bash", ["-c", call], { cwd: tmpdir() })).stdout).toContain(`You asked for ${chat}.`);

  const base = /^ready (http:\S+)$/m.exec(up.output())?.[1];
  const key = readFileSync(join(data, "secrets/research/assistant/api-key"), "utf8");
  expect(JSON.stringify(await ask(`${base}/g/research-main`, key))).toContain(`You asked for ${chat}.`);

  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const content = "The office is closed for vacation in August.";
  const save = () => fetch(`${base}/atoms`, { method: "POST", headers, body: JSON.stringify({ content }) });
  // On a machine too busy to renew its lease in time it is 503 for a while.
  await until("the atom is saved", async () => (await save()).status === 201);
  const question = embedding === undefined ? "vacation" : "holiday";
  const found = await until("the atom is found", async () => {
    const answer = await fetch(`${base}/atoms/search?q=${question}`, { headers });
    const { items } = (await answer.json()) as { items: { content: string; match: string }[] };
    return items[0];
  });
  expect(found).toMatchObject({ content, match: embedding === undefined ? "words" : "meaning" });

  if (embedding !== undefined) {
    const team = join(manifests, "team.yaml");
    const declared = readFileSync(team, "utf8");
    const embedded = () => {
      const { status } = JSON.parse(readFileSync(join(data, "status/research/MemoryLibrary/handbook.json"), "utf8"));
      return findCondition<{ type: string; status: string; message: string }>(status.conditions, "Embedded");
    };
    writeFileSync(team, declared.replace(embedding, "stub-embedding"));
    const refused =
      "The last try of model stub-embedding through ModelGateway research/main failed: the upstream answered 404";
    await until("its condition names the model that is refused", () => embedded()?.message.includes(refused));
    writeFileSync(team, declared);
    await until("its condition is as before", () => embedded()?.status === "True");
  }

  expect(up.output()).not.toContain(CREDENTIAL);
  const { stdout } = await run("ps", ["-eo", "args="]);
  expect(stdout).not.toContain(CREDENTIAL);
  const holders = filesBelow(dirname(data)).filter((file) => readFileSync(file).includes(CREDENTIAL));
  expect(holders).toEqual([join(data, "secrets/research", name, "api-key")]);
});

const WITHOUT: readonly (readonly [string[], Record<string, string>, string])[] = [
  [["openai"], {}, "there is no credential for openai yet: give it in the variable OPENAI_API_KEY, this once"],
  [
    ["openai"],
    { OPENAI_API_KEY: `inf_${"a".repeat(57)}\n` },
    "OPENAI_API_KEY holds a key of Keyplane, which is not for the provider: unset the variable, or give the provider's credential",
  ],
  [["mistral"], {}, "--example: must be one of openai, anthropic, gemini"],
];
const OTHERS_WITHOUT: typeof WITHOUT = [
  [
    ["gemini"],
    { GEMINI_API_KEY: " " },
    "there is no credential for gemini yet: give it in the variable GEMINI_API_KEY",
  ],
  [["anthropic"], { ANTHROPIC_API_KEY: "inf_my-own-key" }, "ANTHROPIC_API_KEY holds a key of Keyplane"],
];

test.each([...WITHOUT, ...(NIGHTLY ? OTHERS_WITHOUT : [])])(
  "npm start -- --example %j says what to give, and makes nothing",
  async (args, env, message) => {
    const data = join(tmpdir(), "keyplane-provider-without");
    const { child, output } = start([...args, "--data", data], env);
    const [code] = await once(child, "close");
    expect([code, output()]).toEqual([2, expect.stringContaining(`keyplane: ${message}`)]);
    expect(existsSync(data)).toBe(false);
  },
);

/** The example by the README's command. */
async function startByCommand(home: Home, { name, variable }: Example) {
  const args = [name, "--manifests", home.manifests, "--data", home.data, "--port", "0", "--admin-port", "0"];
  const up = start(args, { [variable]: `${CREDENTIAL}\n` });
  await until("it is ready", () => up.child.exitCode !== null || /^ready /m.test(up.output()));
  expect(up.child.exitCode, up.output()).toBe(null);
  return up;
}

/** What that command does, in this process. */
async function startHere(home: Home, { name }: Example) {
  await keepCredential(home.data, name, `${CREDENTIAL}\n`);
  return startUp(home);
}

function start(args: readonly string[], given: Record<string, string>) {
  const { OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY, ...env } = process.env;
  const [program = "", ...words] = START.split(" ");
  const child: ChildProcess = spawn(program, [...words, ...args], {
    ...{ cwd: ROOT, env: { ...env, ...COMPILE_CACHE, ...given }, detached: true },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk) => {
      output += chunk;
    });
  }
  return {
    child,
    output: () => output,
    async stop() {
      if (child.exitCode !== null || child.pid === undefined) return;
      const gone = once(child, "close");
      process.kill(-child.pid, "SIGKILL");
      await gone;
    },
  };
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
