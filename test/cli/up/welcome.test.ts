import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type TestContext, test } from "vitest";
import { welcome } from "../../../cli/up/welcome.ts";

/** The data folder of an `up` with a gateway of one route, and a key of these scopes. */
function dataFolder(context: TestContext, effectiveScopes: readonly string[], model: string, spec = {}): string {
  const data = mkdtempSync(join(tmpdir(), "keyplane-welcome-"));
  context.onTestFinished(() => rmSync(data, { recursive: true }));
  mkdirSync(join(data, "db"));
  writeFileSync(join(data, "cluster-id"), "c");
  const conditions = [{ type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "" }];
  const put = (kind: string, more: object) => {
    const folder = join(data, "status/dev", kind);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "one.json"), JSON.stringify({ metadata: { name: "one", namespace: "dev" }, ...more }));
  };
  put("PlatformKey", { spec, status: { conditions, effectiveScopes } });
  put("ModelGateway", { spec: { upstreams: [], routes: [{ model }] }, status: { conditions, publicID: "main" } });
  return data;
}

const shown = (data: string) => welcome(data, "http://127.0.0.1:1", "http://127.0.0.1:1/link");

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

test("b285: keyplane up shows no call of the memory that has to say whose it means", async (context) => {
  const shownOf = (mode: string) =>
    shown(dataFolder(context, ["memory:write"], "fast", { subjectAccess: { mode, subject: "user-1" } }));
  expect(await shownOf("Bound")).toContain("/atoms/search");
  expect(await shownOf("Required")).not.toContain("/atoms");
});
