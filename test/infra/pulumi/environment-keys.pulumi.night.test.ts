import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { read } from "../../architecture/sources.ts";
import { blocksIn } from "../../env/blocks.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { describeOnPulumi } from "../../env/pulumi.ts";
import { textsBelow } from "./files.ts";

type Resource = { type: string; properties?: Record<string, unknown>; options?: Record<string, unknown> };
type Program = { resources: Record<string, Resource>; outputs?: Record<string, string> };

const PAGE = "docs/guides/pulumi-yaml.md";
const shown: Program = parse(blocksIn(read(PAGE)).find(({ language }) => language === "yaml")?.text ?? "");

/** The page's program, in which a test changes what it is about. */
function pageProgram(project: string, change: (agent: Resource, program: Program) => void = () => {}) {
  const { resources, outputs } = structuredClone(shown);
  const agent = resources.agent ?? expect.fail(`${PAGE} has no EnvironmentKeys`);
  const program: Program = { resources, ...(outputs && { outputs }) };
  // A team's name is its own in all files that run.
  program.resources.docs = { type: "keyplane:PlatformTeam", properties: { name: project } };
  change(agent, program);
  return { "Pulumi.yaml": stringify({ name: project, runtime: "yaml", ...program }) };
}

/** A value of another resource, as YAML has it. */
function placeholder(path: string): string {
  return `\${${path}}`;
}

/** Changes what the component is given. */
function given(agent: Resource, properties: Record<string, unknown>): void {
  agent.properties = { ...agent.properties, ...properties };
}

describeOnPulumi("EnvironmentKeys in YAML", ({ makeProject, call }) => {
  it("is brought up, previewed without a difference and changed, with its secrets encrypted", async () => {
    const { folder, cli, rewrite } = await makeProject(pageProgram("yaml-environments"));
    const up = await cli("up", "--yes", "--skip-preview");
    expect(up).toMatchObject({ failed: false, out: expect.stringContaining("8 created") });
    const outputs = JSON.parse((await cli("stack", "output", "--json", "--show-secrets")).out);
    const key: string = outputs.production;
    expect(outputs.productionScopes).toEqual(["memory:read"]);
    expect((await cli("preview", "--expect-no-changes")).failed).toBe(false);

    await rewrite(
      pageProgram("yaml-environments", (agent) =>
        given(agent, { environments: { production: { scopes: ["memory:read", "memory:write"] } } }),
      ),
    );
    const change = await cli("up", "--yes", "--skip-preview");
    expect(change).toMatchObject({ failed: false, out: expect.stringContaining("2 updated") });
    const changed = JSON.parse((await cli("stack", "output", "--json", "--show-secrets")).out);
    expect(changed).toMatchObject({ production: key, productionScopes: ["memory:read", "memory:write"] });

    const shows = JSON.stringify((await cli("stack", "export", "--show-secrets")).out);
    const secrets = [...new Set(shows.match(/\binf_[\w-]{43,}/g))];
    expect(secrets).toHaveLength(4);
    expect(secrets).toContain(key);
    const texts = textsBelow(folder).map(([, text]) => text);
    expect(secrets.filter((secret) => [up.out, change.out, ...texts].some((text) => text.includes(secret)))).toEqual(
      [],
    );

    expect(await call(key)).toBe(200);
  });

  it("has keys whose scopes are known only later, and makes them with the provider that it is given", async () => {
    const { cli } = await makeProject(
      pageProgram("yaml-open", (agent, { resources }) => {
        resources.other = { type: "pulumi:providers:keyplane" };
        agent.options = { provider: placeholder("other"), protect: true };
        given(agent, { scopes: placeholder("reader.effectiveScopes"), environments: undefined });
      }),
    );
    const preview = await cli("preview", "--json");
    expect(preview.failed).toBe(false);
    expect(await cli("up", "--yes", "--skip-preview")).toMatchObject({ failed: false });
    const { deployment } = JSON.parse((await cli("stack", "export")).out);
    const keys = deployment.resources.filter(({ urn }: { urn: string }) => /::agent-\w+$/.test(urn));
    expect(keys).toHaveLength(3);
    for (const { provider, protect, inputs } of keys) {
      expect(provider).toContain("::other::");
      expect(protect).toBe(true);
      expect(inputs).toMatchObject({ scopes: ["memory:read"], libraryAccess: { mode: "Restricted" } });
    }
    expect((await cli("preview", "--expect-no-changes")).failed).toBe(false);
  });

  // By day environment-keys.test.ts has the others, without the CLI.
  const refused = [
    ["an argument that it does not know", { gateway: "main" }, "gateway"],
    ["an environment that it does not know", { environments: { prodution: {} } }, "production"],
    ["too few scopes", { scopes: ["memory:write"] }, "unless environments.production.scopes says so"],
    ["a scope that there is not", { scopes: ["memory:reed"] }, "memory:read"],
  ] as const;
  it.each(refused.slice(NIGHTLY ? 0 : -1))("is refused for %s", async (_, properties, message) => {
    const { cli } = await makeProject(pageProgram("yaml-refused", (agent) => given(agent, properties)));
    const { out, failed } = await cli("preview");
    expect(failed).toBe(true);
    expect(out).toContain(message);
    expect(out).not.toContain("grpc");
  });
});
