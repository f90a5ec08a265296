import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { ROOT, read } from "../../architecture/sources.ts";
import { scriptOf } from "../../env/guide.ts";
import { describeOnTofu } from "../../env/opentofu.ts";

const run = promisify(execFile);

describeOnTofu("docs/guides/terraform.md", ({ makeEnvironment, manage }) => {
  it("can be followed from its first line to its last", async () => {
    await manage("POST", "teams", { name: "research", spec: {} });
    await manage("POST", "libraries", { name: "handbook", team: "research", spec: { displayName: "Handbook" } });
    const upstream = { name: "one", dialect: "openai", baseURL: "https://api.example.com", credential: "c" };
    await manage("POST", "gateways", { name: "main", team: "research", spec: { upstreams: [upstream] } });
    const env = await makeEnvironment();
    const { KEYPLANE_URL: url = "", KEYPLANE_TOKEN_FILE: tokenFile = "" } = env;
    const page = read("docs/guides/terraform.md");
    const script = scriptOf(page, ROOT)
      .replaceAll("http://127.0.0.1:8080", url)
      .replaceAll("$PWD/.keyplane/bootstrap-token", tokenFile);
    const approved = { TF_CLI_ARGS_apply: "-auto-approve", TF_CLI_ARGS_destroy: "-auto-approve" };
    const { stdout } = await run("bash", ["-c", script], {
      cwd: ROOT,
      env: { ...env, ...approved },
      maxBuffer: 1 << 26,
    });
    expect(stdout).toContain('{"items":[],"nextCursor":null}');
    expect(stdout.match(/No changes\./g)?.length).toBe(2);
    expect(stdout).toContain("Import successful");
    const { body } = await manage("GET", "keys?team=research");
    expect(body.items.map(({ state }: { state: string }) => state)).not.toContain("active");
  });
});
