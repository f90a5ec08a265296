import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { condition, progressOf, REASONS, type Reason, type StatedCondition } from "../../domain/conditions.ts";
import { findGlua } from "../env/glua.ts";

const run = promisify(execFile);
const PAGE = join(import.meta.dirname, "../../docs/operations/conditions.md");

type Customizations = { readonly "resource.customizations": string };
type Rules = Readonly<Record<string, { readonly "health.lua": string }>>;

/** An object with these conditions, stated of its generation 2 unless said otherwise. */
function objectWith(conditions: readonly StatedCondition[], observedGeneration = 2) {
  return { metadata: { generation: 2 }, status: { observedGeneration, conditions } };
}

function ready(status: StatedCondition["status"], reason: Reason) {
  const stated = condition("Ready", status, reason, "As it is.");
  return objectWith([stated, ...progressOf(stated)]);
}

describe("the health rule for Argo CD", () => {
  let folder: string;
  let glua: string;
  let rule: string;

  /** What Argo CD would show of an object, by its own interpreter. */
  async function healthOf(object: object): Promise<{ status: string; message: string }> {
    const script = `
local obj = ${luaOf(object)}
local function health()
${rule}
end
local found = health()
print(found.status .. "\\t" .. found.message)`;
    const file = join(folder, "health.lua");
    await writeFile(file, script);
    const [status = "", message = ""] = (await run(glua, [file])).stdout.trim().split("\t");
    return { status, message };
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "keyplane-lua-"));
    glua = await findGlua();
    const blocks = [...(await readFile(PAGE, "utf8")).matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
    const block = blocks.find((text) => text.includes("health.lua"));
    const { "resource.customizations": text }: Customizations = parse(block ?? "");
    const rules: Rules = parse(text);
    rule = rules["keyplane.dev/*"]?.["health.lua"] ?? "";
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(Object.keys(REASONS) as Reason[])("judges %s as its conditions have Flux judge", async (reason) => {
    const object = ready("False", reason);
    const isStalled = object.status.conditions.some(({ type }) => type === "Stalled");
    const message = object.status.conditions[0]?.message;
    expect(await healthOf(object)).toEqual({ status: isStalled ? "Degraded" : "Progressing", message });
  });

  it("is Healthy when an object is as declared, a suspended one included", async () => {
    expect(await healthOf(ready("True", "Ready"))).toEqual({ status: "Healthy", message: "As it is." });
    expect(await healthOf(ready("True", "Suspended"))).toMatchObject({ status: "Healthy" });
  });

  it("waits for the controller where there is no condition, or of an older generation alone", async () => {
    const waits = { status: "Progressing", message: "Waiting for the controller" };
    expect(await healthOf({ metadata: { generation: 1 } })).toEqual(waits);
    expect(await healthOf(objectWith(ready("True", "Ready").status.conditions, 1))).toEqual(waits);
    expect(await healthOf(ready("Unknown", "Pending"))).toMatchObject({ status: "Progressing" });
  });
});

/** A value of JSON as a literal of Lua. */
function luaOf(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(luaOf).join(", ")}}`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, inner]) => `[${JSON.stringify(name)}] = ${luaOf(inner)}`)
    .join(", ")}}`;
}
