import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, type TestContext, test } from "vitest";
import { welcome } from "../../../cli/up/welcome.ts";

/** The data folder of an `up` with a gateway of one route, and a key of these scopes. */
function dataFolder(
  context: Pick<TestContext, "onTestFinished">,
  effectiveScopes: readonly string[],
  model: string,
  spec = {},
  dialect = "openai",
  teamSpec: object = { namespaces: ["dev"] },
): string {
  const data = mkdtempSync(join(tmpdir(), "keyplane-welcome-"));
  context.onTestFinished(() => rmSync(data, { recursive: true }));
  mkdirSync(join(data, "db"));
  writeFileSync(join(data, "cluster-id"), "c");
  const conditions = [{ type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "" }];
  const put = (kind: string, more: object, name = "one") => {
    const folder = join(data, "status/dev", kind);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${name}.json`), JSON.stringify({ metadata: { name, namespace: "dev" }, ...more }));
  };
  put("PlatformKey", { spec, status: { conditions, effectiveScopes, team: "one" } });
  for (const name of ["diary", "notes"]) put("MemoryLibrary", { status: { conditions, team: "one" } }, name);
  put("PlatformTeam", { spec: teamSpec });
  const routing = { upstreams: [{ name: "provider", dialect }], routes: [{ model, upstream: "provider" }] };
  put("ModelGateway", { spec: routing, status: { conditions, publicID: "main" } });
  return data;
}

const shown = (data: string, waiting: number | null = 0) => {
  const commands = { linkCommand: "keyplane console", listCommand: "keyplane get keys" };
  return welcome({ data, url: "http://127.0.0.1:1", link: "http://127.0.0.1:1/link", ...commands, waiting });
};

test("what keyplane up shows to be pasted runs nothing that a manifest says", async (context) => {
  const model = `x'$(touch${"$"}{IFS}pwned)'`;
  const said = await shown(dataFolder(context, ["gateway:generate", "gateway:routes"], model));
  expect(said).toContain(String.raw`-d '{"model":"x'\''$(touch${"$"}{IFS}pwned)'\''"`);
});

test("keyplane up shows the call of a route for a key that may name one, and no other", async (context) => {
  const data = dataFolder(context, ["gateway:generate"], "fast");
  expect(await shown(data)).not.toContain("chat/completions");
  expect(await shown(dataFolder(context, ["gateway:generate", "gateway:routes"], "fast"))).toContain(
    "chat/completions",
  );
});

test.each([
  [
    "There is no Secret provider.\nCreate it.",
    "# the gateway dev/one is not ready: There is no Secret provider. Create it.\n",
  ],
  ["Its namespace\r\nbelongs to no team.", "# the gateway dev/one is not ready: Its namespace belongs to no team.\n"],
])("keyplane up says why it shows no call of a gateway, on one line: %j", async (message, line) => {
  const data = dataFolder({ onTestFinished }, ["gateway:generate", "gateway:routes"], "fast");
  const conditions = [
    { type: "Ready", status: "False", reason: "CredentialNotFound", message, lastTransitionTime: "" },
  ];
  const gateway = { metadata: { name: "one", namespace: "dev" }, status: { conditions } };
  writeFileSync(join(data, "status/dev/ModelGateway/one.json"), JSON.stringify(gateway));
  const said = await shown(data);
  expect(said).toContain(line);
  expect(said).not.toContain("chat/completions");
});

test("b285: keyplane up shows no call of the memory that has to say whose it means", async (context) => {
  const shownOf = (mode: string) =>
    shown(dataFolder(context, ["memory:write"], "fast", { subjectAccess: { mode, subject: "user-1" } }));
  expect(await shownOf("Bound")).toContain("/atoms/search");
  expect(await shownOf("Required")).not.toContain("/atoms");
});

test.each([
  ["openai", /-d '\{"model":"fast","messages":\[.*' 'http:\/\/127.0.0.1:1\/g\/main\/v1\/chat\/completions'$/m],
  [
    "anthropic",
    /-H 'anthropic-version: 20[\d-]+' .*"max_tokens":\d+.*' 'http:\/\/127.0.0.1:1\/g\/main\/v1\/messages'$/m,
  ],
  ["gemini", /-d '\{"contents":\[.*' 'http:\/\/127.0.0.1:1\/g\/main\/v1beta\/models\/fast:generateContent'$/m],
])("keyplane up shows a call of a route in the format of its upstream: %s", async (dialect, call) => {
  expect(
    await shown(dataFolder({ onTestFinished }, ["gateway:generate", "gateway:routes"], "fast", {}, dialect)),
  ).toMatch(call);
});

test.each([
  [{ gatewayRef: { name: "one" }, allowedModels: ["fast"] }, true],
  [{ gatewayRef: { name: "another" } }, false],
  [{ gatewayRef: { name: "one", namespace: "elsewhere" } }, false],
  [{ allowedModels: ["slow"] }, false],
])("keyplane up shows the call of a route for a key that may make it: %j", async (spec, isShown) => {
  const said = await shown(dataFolder({ onTestFinished }, ["gateway:generate", "gateway:routes"], "fast", spec));
  expect(said.includes("/g/main/")).toBe(isShown);
});

const defaultTo = (name: string) => ({
  namespaces: ["dev"],
  mcpAgentPolicy: { defaultLibraryRef: { namespace: "dev", name } },
});
const only = (name: string) => ({ libraryAccess: { mode: "Restricted", libraryRefs: [{ name }] } });

test.each<[what: string, spec: object, team: object, library: string | undefined]>([
  ["the key's default", { mcpDefaultLibraryRef: { name: "notes" } }, defaultTo("diary"), undefined],
  ["the team's default", {}, defaultTo("diary"), undefined],
  ["the first of the team, where there is no default", {}, { namespaces: ["dev"] }, "dev/diary"],
  ["the key's own, where the team's default is none of its", only("notes"), defaultTo("diary"), "dev/notes"],
])("keyplane up shows a save into a library that the key reaches: %s", async (_, spec, team, library) => {
  const said = await shown(dataFolder({ onTestFinished }, ["memory:write"], "fast", spec, "openai", team));
  expect(/-d '(.*?)'/.exec(said)?.[1]).toBe(
    JSON.stringify({ content: "The deploy freeze ends on Monday.", ...(library && { library }) }),
  );
});

test.each([
  [{ ...only("notes"), mcpDefaultLibraryRef: { name: "notes" } }, "two"],
  [{}, "one"],
])("keyplane up shows a save by a key that reaches every library, where there is one: %j", async (spec, writer) => {
  const data = dataFolder({ onTestFinished }, ["memory:write"], "fast", spec, "openai", defaultTo("diary"));
  const keys = join(data, "status/dev/PlatformKey");
  const { metadata, status } = JSON.parse(readFileSync(join(keys, "one.json"), "utf8"));
  writeFileSync(join(keys, "two.json"), JSON.stringify({ metadata: { ...metadata, name: "two" }, spec: {}, status }));
  const said = await shown(data);
  expect(/secrets\/dev\/(\w+)\/api-key/.exec(said)?.[1]).toBe(writer);
  expect(said).toContain("/atoms/search");
});

test("keyplane up shows no save where the key reaches no library", async () => {
  expect(await shown(dataFolder({ onTestFinished }, ["memory:write"], "fast", only("elsewhere")))).not.toContain(
    "/atoms",
  );
});

test("keyplane up does not say that there are no keys while declared ones are still to be made", async (context) => {
  const data = dataFolder(context, ["memory:write"], "fast");
  expect(await shown(data)).not.toContain("not looked at yet");
  expect(await shown(data, 1)).toContain("# 1 object is not looked at yet; to see the keys\nkeyplane get keys\n");
  rmSync(join(data, "status"), { recursive: true });
  expect(await shown(data)).toContain("there are none");
  for (const [waiting, what] of [
    [10_003, "10003 objects are"],
    [null, "what is declared is"],
  ] as const) {
    const said = await shown(data, waiting);
    expect(said).toContain(`# ${what} not looked at yet`);
    expect(said).not.toContain("there are none");
  }
});
