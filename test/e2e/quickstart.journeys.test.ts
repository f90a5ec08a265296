/** The README's first minutes, on the real thing: what a newcomer starts, sees, pastes and writes. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import Anthropic from "@anthropic-ai/sdk";
import { GoogleGenAI } from "@google/genai";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { ROOT, read } from "../architecture/sources.ts";
import { blocksIn } from "../env/blocks.ts";
import { freePort } from "../env/free-port.ts";
import { until } from "../env/until.ts";

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), "keyplane-quickstart-"));
const data = join(folder, "data");
const manifests = join(folder, "manifests");
let child: ChildProcess;
let output = "";
let base: string;
let stubPort: string;

/**
 * The quickstart as `npm start` runs it, on a copy of its manifests that a test may write to. Its fixed ports, 8080 and
 * 9100, may be taken here.
 */
beforeAll(async () => {
  cpSync(join(ROOT, "examples/quickstart/manifests"), manifests, { recursive: true });
  stubPort = String(await freePort());
  const gateway = join(manifests, "gateway.yaml");
  writeFileSync(gateway, readFileSync(gateway, "utf8").replaceAll(":9100", `:${stubPort}`));
  child = start(stubPort);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk) => {
      output += chunk;
    });
  }
  const ended = once(child, "close").then(() => expect.fail(`it ended:\n${output}`));
  base = await Promise.race([until("the line 'ready URL'", () => /^ready (http:\S+)$/m.exec(output)?.[1]), ended]);
  await Promise.race([until("the calls to paste", () => output.includes("/v1/chat/completions")), ended]);
});
afterAll(() => {
  if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  rmSync(folder, { recursive: true });
});

/** As the README says it, without the installation that went before. */
const [, START = ""] = /^npm ci && (npm start)$/m.exec(read("README.md")) ?? [];

function start(port: string, ofData = data): ChildProcess {
  const args = ["--manifests", manifests, "--data", ofData, "--port", "0", "--admin-port", "0"];
  const env = { ...process.env, MODEL_STUB_PORT: port };
  const [program = "", ...words] = START.split(" ");
  return spawn(program, [...words, "--", ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    env,
  });
}

const key = (name: string) => readFileSync(join(data, "secrets/research", name, "api-key"), "utf8");
const hello = [{ role: "user" as const, content: "Hello" }];

describe("what is printed", () => {
  it("is a table of the declared keys, all of them ready", () => {
    for (const name of ["docs-agent", "dashboard", "diarist", "chat-app"]) {
      expect(output).toMatch(new RegExp(`^research +${name} +True +Ready +inf_\\w{8} `, "m"));
    }
  });

  it("is calls that work when they are pasted, and hold no key", async () => {
    const calls = output.split("\n").filter((line) => line.startsWith("curl "));
    expect(calls).toHaveLength(3);
    const answers = [];
    for (const call of calls) answers.push((await run("bash", ["-c", call], { cwd: folder })).stdout);
    expect(answers[0]).toContain('"revision":1');
    expect(answers[1]).toContain("deploy freeze");
    expect(answers[2]).toContain("stub-small");
    expect(output).not.toContain(key("docs-agent").slice(12));
  });

  it("is its help at once, while it runs", async () => {
    const args = ["examples/quickstart/start.ts", "--data", data, "--help"];
    const { stdout } = await run(process.execPath, args, { cwd: ROOT, timeout: 60_000 });
    expect(stdout).toContain("Usage: keyplane up");
  });

  it("is a command that prints another link, as the sign-in page shows it, in whatever folder", async () => {
    const [, printed = ""] = /^# for another link\n(.+)$/m.exec(output) ?? [];
    const page = await (await fetch(`${base}/dashboard/sign-in`)).text();
    expect(page).toContain(`<code>${printed}</code>`);
    const { stdout } = await run("sh", ["-c", printed], { cwd: folder });
    expect(stdout).toMatch(new RegExp(`^${base}/dashboard/sign-in\\?link=[\\w-]{43}\n$`));
  });
});

describe("the library that is embedded", () => {
  it("finds by its meaning what shares no word with the question", async () => {
    const headers = { authorization: `Bearer ${key("docs-agent")}`, "content-type": "application/json" };
    const content = "The office is closed for vacation in August.";
    await fetch(`${base}/atoms`, { method: "POST", headers, body: JSON.stringify({ content }) });
    // What was embedded before it comes first until then.
    const found = await until("it is embedded", async () => {
      const answer = await fetch(`${base}/atoms/search?q=holiday`, { headers });
      const { items } = (await answer.json()) as { items: { content: string; match: string }[] };
      return items[0]?.content === content && items[0];
    });
    expect(found).toMatchObject({ match: "meaning" });
  });
});

describe("the official clients, with the base URL and the key changed", () => {
  it("openai: chat by a logical route, a stream, embeddings, the list of models", async () => {
    const client = new OpenAI({ baseURL: `${base}/g/research-main/v1`, apiKey: key("chat-app") });
    const { data: chat, response } = await client.chat.completions
      .create({ model: "fast-chat", messages: hello })
      .withResponse();
    expect(chat.choices[0]?.message.content).toContain("stub-small");
    expect(response.headers.get("x-keyplane-route-id")).toBe("rt-fast");
    let streamed = "";
    for await (const chunk of await client.chat.completions.create({ model: "gpt-x", messages: hello, stream: true })) {
      streamed += chunk.choices[0]?.delta.content ?? "";
    }
    expect(streamed).toContain("gpt-x");
    expect((await client.embeddings.create({ model: "e", input: "a" })).data).toHaveLength(1);
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(["fast-chat"]);
    const refused = new OpenAI({ baseURL: `${base}/g/research-main/v1`, apiKey: key("dashboard") });
    await expect(refused.chat.completions.create({ model: "m", messages: hello })).rejects.toThrow(
      OpenAI.PermissionDeniedError,
    );
  });

  it("@google/genai: content, a stream and an embedding", async () => {
    const client = new GoogleGenAI({ apiKey: key("chat-app"), httpOptions: { baseUrl: `${base}/g/research-main` } });
    expect((await client.models.generateContent({ model: "gemini-x", contents: "Hello" })).text).toContain("gemini-x");
    let streamed = "";
    for await (const chunk of await client.models.generateContentStream({ model: "gemini-x", contents: "Hello" })) {
      streamed += chunk.text ?? "";
    }
    expect(streamed).toContain("gemini-x");
    expect((await client.models.embedContent({ model: "e", contents: "Hello" })).embeddings).toHaveLength(1);
  });

  it("@anthropic-ai/sdk: a message and a stream", async () => {
    const client = new Anthropic({ baseURL: `${base}/g/research-main`, apiKey: key("chat-app") });
    const ask = { model: "claude-x", max_tokens: 100, messages: hello };
    expect(JSON.stringify((await client.messages.create(ask)).content)).toContain("claude-x");
    expect(await client.messages.stream(ask).finalText()).toContain("claude-x");
  });

  const identity = { name: "newcomer", version: "1.0.0" };
  const endpoint = () =>
    [
      new URL(`${base}/api/v1/memory/mcp`),
      { requestInit: { headers: { Authorization: `Bearer ${key("diarist")}` } } },
    ] as const;
  const save = { name: "memory_save_atom", arguments: { content: "The kettle was left on." } };
  const search = { name: "memory_search", arguments: { query: "kettle" } };

  it("the MCP client of both generations: lists, saves and finds", async () => {
    const modern = new ModernClient(identity);
    await modern.connect(new ModernTransport(...endpoint()));
    expect((await modern.listTools()).tools).toHaveLength(9);
    await modern.callTool(save);
    await modern.close();

    const legacy = new LegacyClient(identity);
    await legacy.connect(new LegacyTransport(...endpoint()) as Parameters<LegacyClient["connect"]>[0]);
    expect((await legacy.listTools()).tools).toHaveLength(9);
    expect(JSON.stringify((await legacy.callTool(search)).structuredContent)).toContain("kettle");
    await legacy.close();
  });
});

describe("a first key of one's own", () => {
  const manifest = /```yaml\n(apiVersion[\s\S]*?)```/.exec(read("README.md"))?.[1] ?? "";
  const get = (path: string, bearer: string) => fetch(base + path, { headers: { authorization: `Bearer ${bearer}` } });

  it("takes one file, and is gone when the file is", async () => {
    const file = join(manifests, "my-key.yaml");
    writeFileSync(file, manifest);
    const mine = await until("the key's Secret", () => key("my-key"));
    expect((await get("/atoms", mine)).status).toBe(200);
    const models = new OpenAI({ baseURL: `${base}/g/research-main/v1`, apiKey: mine });
    const chat = await models.chat.completions.create({ model: "fast-chat", messages: hello });
    expect(chat.choices[0]?.message.content).toContain("stub-small");
    const commands =
      blocksIn(read("README.md")).find(({ text }) => text.includes("research/my-key/api-key"))?.text ?? "";
    await until("it is shown as ready", async () => {
      const { stdout } = await run("bash", ["-euc", commands.replaceAll(".keyplane", data)], { cwd: ROOT });
      return /^research +my-key +True/m.test(stdout) && stdout.endsWith(mine);
    });
    rmSync(file);
    await until("401 for a key whose manifest is gone", async () => (await get("/atoms", mine)).status === 401);
  });

  it("is changed in place by an edit: the same secret, other rights", async () => {
    const file = join(manifests, "keys.yaml");
    const reader = key("dashboard");
    const write = () =>
      fetch(`${base}/atoms`, {
        method: "POST",
        headers: { authorization: `Bearer ${reader}`, "content-type": "application/json" },
        body: JSON.stringify({ content: "Now I may write." }),
      });
    expect((await write()).status).toBe(403);
    writeFileSync(file, readFileSync(file, "utf8").replace("preset: MCPReadOnly", "preset: MCPReadWrite"));
    await until("the right to write", async () => (await write()).status === 201);
    expect(key("dashboard")).toBe(reader);
  });
});

test("a second start says that another process uses the data folder, and nothing of the stub's port", async () => {
  const second = start(stubPort);
  let said = "";
  second.stderr?.on("data", (chunk) => {
    said += chunk;
  });
  const closed = once(second, "close");
  await Promise.race([until("it says a line", () => said.endsWith("\n")), closed]);
  if (second.pid !== undefined) process.kill(-second.pid, "SIGKILL");
  await closed;
  expect(said).toMatch(/^keyplane: another keyplane process is using .+: waiting up to 15 s for it to end\n$/);
});

test("a port of the model stub that is taken is one line that says what to do", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  const second = start(String(typeof address === "object" ? address?.port : ""), join(folder, "other"));
  const said = second.stderr === null ? "" : text(second.stderr);
  const [code] = await once(second, "close");
  other.close();
  expect([code, await said]).toEqual([1, expect.stringMatching(/^keyplane: .*EADDRINUSE.*: free the port, or .*\n$/)]);
});

test("c61: a SIGTERM to npm start ends the server and the model stub, with exit code 0", async () => {
  expect(child.exitCode, output).toBe(null);
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  expect(await gone).toEqual([0, null]);
  const left = await run("ps", ["-eo", "pgid=,args="]);
  expect(left.stdout.split("\n").filter((line) => Number.parseInt(line, 10) === child.pid)).toEqual([]);
  await expect(fetch(base)).rejects.toThrow("fetch failed");
});
