/** examples/capture: the hook as Claude Code and Codex run it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, type TestContext, test } from "vitest";
import { keep, sendKept, takeProblem } from "../../examples/capture/spool.ts";
import { startModelStub } from "../../examples/model-stub/stub.ts";
import { ROOT, read } from "../architecture/sources.ts";
import { blocksIn } from "../env/blocks.ts";
import { describeNightlyOnEachEngine } from "../env/database/engines.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { startExtractingLibrary } from "../memory/extraction/extracting-library.ts";
import { CLAUDE_CODE, CODEX } from "./transcripts.ts";

/** A folder with the hook's configuration and a transcript. */
async function startHook(context: TestContext, config: object, lines: readonly object[] = []) {
  const folder = await mkdtemp(join(tmpdir(), "capture-"));
  context.onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const at = (name: string) => join(folder, name);
  await writeFile(
    at("capture.json"),
    JSON.stringify({ keyFile: at("key"), spool: at("spool"), library: "notes", ...config }),
  );
  await writeFile(at("key"), "inf_none\n");
  await writeFile(at("transcript.jsonl"), [...lines.map((line) => JSON.stringify(line)), "{broken"].join("\n"));
  return {
    at,
    waiting: async () => (await readdir(at("spool")).catch(() => [])).filter((name) => name.endsWith(".json")),
    /** Runs it on an event, or on whatever it is given. */
    async run(event: object | string) {
      const began = performance.now();
      const hook = spawn(process.execPath, ["examples/capture/hook.ts", "--config", at("capture.json")], { cwd: ROOT });
      hook.stdin.end(
        typeof event === "string" ? event : JSON.stringify({ transcript_path: at("transcript.jsonl"), ...event }),
      );
      const [out, [code]] = await Promise.all([text(hook.stdout), once(hook, "close")]);
      return { code, out: out === "" ? {} : JSON.parse(out), ms: performance.now() - began };
    },
  };
}

/** Takes calls and answers none. */
async function startSilentServer(context: TestContext): Promise<string> {
  const server = createServer((socket) => socket.on("error", () => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.onTestFinished(() => void server.close());
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return `http://127.0.0.1:${address.port}`;
}

test("docs/guides/capture.md configures the hook as it reads it, for the events that it knows", async () => {
  const [config = "", hooks = ""] = blocksIn(read("docs/guides/capture.md"))
    .filter(({ language }) => language === "json")
    .map(({ text }) => text);
  expect(Object.keys(JSON.parse(config))).toEqual(["url", "keyFile", "library"]);
  const commands = Object.entries<{ hooks: { command: string }[] }[]>(JSON.parse(hooks).hooks).map(
    ([event, groups]) => [
      event,
      ...groups.flatMap((group) => group.hooks.map(({ command }) => command.split("/").at(-1))),
    ],
  );
  expect(commands).toEqual([
    ["SessionStart", "hook.ts"],
    ["SessionEnd", "hook.ts"],
  ]);
});

describeNightlyOnEachEngine("The hook of examples/capture", (store) => {
  // How each is read, transcript.test.ts shows.
  for (const [agent, transcript] of [
    ["Claude Code", CLAUDE_CODE] as const,
    ...(NIGHTLY ? [["Codex", CODEX] as const] : []),
  ]) {
    test(`has a library remember what was said in a session of ${agent}, and say it as the next one starts`, async (context) => {
      const stub = await startModelStub();
      context.onTestFinished(() => stub.close());
      const library = await startExtractingLibrary(context, store(), { baseUrl: stub.url });
      await library.declare();
      const hook = await startHook(
        context,
        { url: library.server.url, library: library.draft.library.name },
        transcript,
      );
      await writeFile(hook.at("key"), `${library.key}\n`);
      expect(await hook.run({ hook_event_name: "SessionEnd" })).toMatchObject({ code: 0, out: {} });
      await until("the conversation is remembered", async () => (await library.contents()).length > 0);
      expect(await library.contents()).toEqual(["We deploy the harbour on Mondays."]);
      await until("nothing waits", async () => (await hook.waiting()).length === 0);
      const { code, out } = await hook.run({ hook_event_name: "SessionStart" });
      expect([code, out.systemMessage]).toEqual([0, undefined]);
      expect(out.hookSpecificOutput.hookEventName).toBe("SessionStart");
      const recalled = out.hookSpecificOutput.additionalContext;
      expect(recalled).toMatch(/^<keyplane-memory>.*We deploy the harbour on Mondays\..*<\/keyplane-memory>$/s);
      expect((await library.handOver(recalled)).json.detail).toContain("says anything");
    });
  }

  test("says as the next session starts why a conversation was not taken", async (context) => {
    const library = await startExtractingLibrary(context, store());
    const hook = await startHook(
      context,
      { url: library.server.url, library: library.draft.library.name },
      CLAUDE_CODE,
    );
    await writeFile(hook.at("key"), library.key);
    await hook.run({ hook_event_name: "SessionEnd" });
    await until("the problem is known", () => readFile(hook.at("spool/problem.txt")).catch(() => undefined));
    const started = async () => (await hook.run({ hook_event_name: "SessionStart" })).out.systemMessage;
    expect(await started()).toContain("declare spec.extraction");
    // It waits until the library is declared so.
    expect(await hook.waiting()).toHaveLength(1);
  });
});

test("The hook of examples/capture holds up no session where the server does not answer, and keeps the conversation", async (context) => {
  const hook = await startHook(context, { url: await startSilentServer(context) }, CLAUDE_CODE);
  const ended = await hook.run({ hook_event_name: "SessionEnd" });
  expect(ended).toMatchObject({ code: 0, out: {} });
  expect(ended.ms).toBeLessThan(1_500);
  expect(await hook.waiting()).toHaveLength(1);
  const started = await hook.run({ hook_event_name: "SessionStart" });
  expect(started).toMatchObject({ code: 0, out: { systemMessage: expect.stringContaining("Keyplane: ") } });
  expect(started.ms).toBeLessThan(5_000);
  expect(await hook.waiting()).toHaveLength(1);
});

test("The hook of examples/capture keeps a conversation whose session ends while the key's file cannot be read", async (context) => {
  const hook = await startHook(context, { url: "http://127.0.0.1:9", keyFile: "/nowhere" }, CLAUDE_CODE);
  expect(await hook.run({ hook_event_name: "SessionEnd" })).toMatchObject({ code: 0, out: {} });
  expect(await hook.waiting()).toHaveLength(1);
  expect((await hook.run({ hook_event_name: "SessionStart" })).out.systemMessage).toContain("/nowhere");
});

test.for([
  [
    "has no keyFile",
    '{"url": "http://127.0.0.1:9", "keyfile": "key", "library": "notes"}',
    'needs a "url", a "keyFile"',
  ],
  ["is no JSON", "{", "is no JSON"],
  [
    "begins with a byte order mark, and names a file of the home folder",
    '\uFEFF{"url": "http://127.0.0.1:9", "keyFile": "~/nokey", "library": "notes"}',
    join(homedir(), "nokey"),
  ],
] as const)(
  "The hook of examples/capture says what is wrong where its configuration %s",
  async ([, config, said], context) => {
    const hook = await startHook(context, {}, CLAUDE_CODE);
    await writeFile(hook.at("capture.json"), config);
    const { code, out } = await hook.run({ hook_event_name: "SessionStart" });
    expect([code, out.systemMessage]).toEqual([0, expect.stringContaining(said)]);
  },
);

/** A spool, and a server that answers a conversation by what is said in it. */
async function startSpool(context: TestContext, answers: Record<string, readonly [status: number, body: string]>) {
  const folder = await mkdtemp(join(tmpdir(), "spool-"));
  context.onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const taken: string[] = [];
  const server = createHttpServer(async (request, response) => {
    const said = JSON.parse(await text(request)).messages[0].content;
    const [status, body] = answers[said] ?? [202, "{}"];
    if (status === 202) taken.push(said);
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.onTestFinished(() => void server.close());
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  const at = (url: string) => ({ url, key: "inf_none", library: "notes" });
  return {
    ...{ folder, taken },
    say: (content: string) => keep(folder, [{ role: "user", content }]),
    send: (url = `http://127.0.0.1:${address.port}`) => sendKept(folder, at(url)),
    files: async (end: string) => (await readdir(folder)).filter((name) => name.endsWith(end)),
  };
}

test("The hook of examples/capture puts a file aside that is no JSON, says so once, and sends the others", async (context) => {
  const spool = await startSpool(context, {});
  await writeFile(join(spool.folder, "0-empty.json"), "");
  await writeFile(join(spool.folder, "0-half.json"), '[{"role":');
  await spool.say("Later.");
  await spool.send();
  expect(spool.taken).toEqual(["Later."]);
  expect(await spool.files(".json")).toEqual([]);
  expect(await spool.files(".bad")).toEqual(["0-empty.bad", "0-half.bad"]);
  expect(await takeProblem(spool.folder)).toMatch(/0-empty\.bad[\s\S]*0-half\.bad/);
  expect(await takeProblem(spool.folder)).toBeUndefined();
});

for (const [what, status, body, why] of [
  ["a proxy answers", 502, "<html>Bad gateway</html>", "the memory answered 502"],
  ["there is no such library yet", 404, '{"detail":"There is no library"}', "There is no library"],
  ["the library takes no conversations yet", 409, '{"detail":"declare spec.extraction"}', "declare spec.extraction"],
] as const) {
  test(`The hook of examples/capture keeps a conversation and says why where ${what}`, async (context) => {
    const spool = await startSpool(context, { early: [status, body] });
    await spool.say("early");
    await spool.send();
    expect(await spool.files(".json")).toHaveLength(1);
    expect(await takeProblem(spool.folder)).toContain(why);
  });
}

test("The hook of examples/capture keeps a conversation and says why where no server is there", async (context) => {
  const spool = await startSpool(context, {});
  await spool.say("early");
  await spool.send("http://127.0.0.1:9");
  expect(await spool.files(".json")).toHaveLength(1);
  expect(await takeProblem(spool.folder)).toContain("fetch failed");
});

test("The hook of examples/capture gives up what is refused whenever it is sent, says why, and sends the others", async (context) => {
  const spool = await startSpool(context, { no: [400, '{"detail":"says nothing"}'] });
  await spool.say("no");
  await new Promise((resolve) => setTimeout(resolve, 5));
  await spool.say("yes");
  await spool.send();
  expect(spool.taken).toEqual(["yes"]);
  expect(await spool.files(".json")).toEqual([]);
  expect(await takeProblem(spool.folder)).toContain("says nothing");
});

test("b328: The hook of examples/capture sends what is shorter behind a conversation that is too long, for a day or for what is left of this one", async (context) => {
  const [never, tomorrow, longer] = ["never".repeat(90), "tomorrow".repeat(20), "longer".repeat(40)];
  const spool = await startSpool(context, {
    [never]: [413, '{"detail":"more than tokensPerDay"}'],
    [tomorrow]: [429, '{"detail":"hand it over tomorrow"}'],
  });
  for (const said of [never, tomorrow, longer, "short", "brief"]) {
    await spool.say(said);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await spool.send();
  // What is no shorter than one that finds no room is not asked for.
  expect(spool.taken).toEqual(["short", "brief"]);
  expect(await spool.files(".json")).toHaveLength(2);
  expect(await spool.files(".large")).toHaveLength(1);
  expect(await takeProblem(spool.folder)).toMatch(/\.large: more than tokensPerDay\n.*hand it over tomorrow$/);
});

for (const [what, config, event] of [
  ["a server that is not there", { url: "http://127.0.0.1:9" }, { hook_event_name: "SessionStart" }],
  ["no key", { keyFile: "/nowhere" }, { hook_event_name: "SessionEnd" }],
  ["no transcript", {}, { hook_event_name: "SessionEnd", transcript_path: null }],
  ["a transcript that is gone", {}, { hook_event_name: "SessionEnd", transcript_path: "/nowhere" }],
  ["another event", {}, { hook_event_name: "Stop" }],
  ["no event", {}, "nonsense"],
] as const) {
  test(`The hook of examples/capture ends well with ${what}`, async (context) => {
    const hook = await startHook(context, config, CLAUDE_CODE);
    expect((await hook.run(event)).code).toBe(0);
  });
}
