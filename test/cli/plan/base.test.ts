import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters, styleText } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { runPlan } from "../../../cli/plan/plan.ts";
import { readDeclared } from "../../../cli/plan/read-declared.ts";
import { key, keyplane, team } from "../up.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keyplane-plan-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

type Files = Readonly<Record<string, string>>;

function write(side: "main" | "branch", files: Files): string {
  const path = join(folder, side);
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, `${name}.yaml`), text);
  return path;
}

/** Plans a branch against what main has. */
async function plan(main: Files, branch: Files, ...flags: string[]) {
  const paths = ["-f", write("branch", branch), "--base", write("main", main)];
  const { code, out, err } = await keyplane(["plan", ...paths, ...flags]);
  return { code, out, err, lines: out.trimEnd().split("\n") };
}

const gateway = (upstream: string, more = "") => `apiVersion: keyplane.dev/v1alpha1
kind: ModelGateway
metadata: { name: main, namespace: dev }
spec:
  publicID: dev-main
  upstreams: [{ name: a, dialect: openai, baseURL: "${upstream}", credentialRef: { name: provider } }]
  routes: [{ model: fast, routeID: r1, upstream: a, upstreamModel: small }${more}]
`;
const hook = (url: string) =>
  `${team("research", "dev").replace("] }\n---\n", "]")}, webhooks: [{ url: "${url}", events: [key.revoked], secretRef: { namespace: dev, name: hooks } }] }\n`;
const hash = (digit: string) => `{ sha256: ${digit.repeat(64)}, prefix: inf_abcdefg${digit} }`;

const MAIN: Files = {
  team: team("research", "dev"),
  gateway: gateway("https://api.example.com"),
  plain: key("plain", "preset: MCPReadOnly"),
  bound: key("bound", "preset: GatewayDefault, gatewayRef: { name: main }"),
  suspended: key("suspended", "preset: MCPReadOnly, state: Suspended"),
  revoked: key("revoked", "preset: MCPReadOnly, state: Revoked"),
  ending: key("ending", "preset: MCPReadOnly, expiresAfter: 2160h, restartTargets: [{ kind: Deployment, name: web }]"),
  rotating: key("rotating", "preset: MCPReadOnly, rotation: { interval: 720h, trigger: a }"),
  imported: key("imported", `preset: MCPReadOnly, source: { type: ImportHash, hash: ${hash("a")} }`),
  templated: key("templated", "preset: MCPReadOnly, secret: { name: there, template: Env }"),
  unclaimed: key("unclaimed", "preset: MCPReadOnly", "unowned"),
};

/** What the plans of most tests are about. */
const SMALL: Files = { team: MAIN.team ?? "", gateway: MAIN.gateway ?? "", plain: MAIN.plain ?? "" };

describe("keyplane plan --base", () => {
  test("shows nothing where both are the same, whatever keys are declared", async () => {
    expect(await plan(MAIN, MAIN, "--detailed-exitcode")).toEqual(
      expect.objectContaining({ code: 0, lines: ["0 to create, 0 to change, 0 to delete, 11 unchanged"] }),
    );
  });

  test("shows what a branch changes, as a plan against what runs would", async () => {
    const { lines } = await plan(MAIN, {
      ...MAIN,
      plain: key("plain", "preset: MCPReadWrite"),
      rotating: key("rotating", "preset: MCPReadOnly, rotation: { interval: 720h, trigger: b }"),
      templated: "",
      fresh: key("fresh", "preset: MCPReadOnly"),
    });
    expect(lines).toEqual([
      "+ create PlatformKey dev/fresh: memory:read, in Secret dev/fresh",
      "~ update PlatformKey dev/plain: scopes: memory:read -> memory:read, memory:write",
      '~ update PlatformKey dev/rotating: spec.rotation.trigger: "a" -> "b"',
      expect.stringMatching(
        /^~ rotate PlatformKey dev\/rotating: version 2, since spec.rotation.trigger changes; version 1 works until /,
      ),
      "- revoke PlatformKey dev/templated: when it was last used is known to a running server alone",
      "- delete Secret dev/there",
      "1 to create, 2 to change, 1 to delete, 8 unchanged",
    ]);
  });

  test("shows all that goes, however many keys a branch removes: what prunes a cluster has no limit", async () => {
    const keys = Array.from({ length: 11 }, (_, i) => [`key-${i}`, key(`key-${i}`, "preset: MCPReadOnly")] as const);
    const some = await plan({ ...SMALL, ...Object.fromEntries(keys) }, SMALL, "--detailed-exitcode");
    expect([some.code, some.lines.at(-1)]).toEqual([2, "0 to create, 0 to change, 11 to delete, 3 unchanged"]);
    const all = await plan(SMALL, {}, "--detailed-exitcode");
    expect([all.code, all.lines.at(-1)]).toEqual([2, "0 to create, 0 to change, 3 to delete, 0 unchanged"]);
  });

  test("shows a change of labels alone, by which costs and policies go", async () => {
    const labelled = (text = "") => text.replace(/name: (\w+)/, "name: $1, labels: { tier: paid }");
    const { code, lines } = await plan(
      SMALL,
      { ...SMALL, team: labelled(SMALL.team), plain: labelled(SMALL.plain) },
      "--detailed-exitcode",
    );
    expect([code, lines]).toEqual([
      2,
      [
        '~ update PlatformTeam research: metadata.labels.tier: none -> "paid"',
        '~ update PlatformKey dev/plain: metadata.labels.tier: none -> "paid"',
        "0 to create, 2 to change, 0 to delete, 1 unchanged",
      ],
    ]);
  });

  test("takes what is faulty in main for not there, so that a branch can mend it", async () => {
    const { code, lines } = await plan({ ...SMALL, plain: "[" }, SMALL);
    expect([code, lines[0]]).toEqual([0, "+ create PlatformKey dev/plain: memory:read, in Secret dev/plain"]);
  });

  test("b318: takes a Secret that SOPS has encrypted for one, refuses what it cannot read, and for keyplane up both", async () => {
    const value = '"ENC[AES256_GCM,data:Tr7o,iv:1vTu,tag:k1vT,type:str]"';
    const sops = `sops: { mac: ${value} }\n`;
    const provider = `apiVersion: v1\nkind: Secret\nmetadata: { name: provider, namespace: dev }\ndata: { api-key: ${value} }\n${sops}`;
    const files = { team: MAIN.team ?? "", gateway: gateway("https://api.example.com"), provider };
    const { code, out } = await plan({ team: files.team }, files);
    expect([code, out]).toEqual([0, expect.stringMatching(/^\+ create ModelGateway dev\/main\n1 to create/)]);
    const refused = await plan(
      {},
      { ...files, hidden: `${key("hidden", `preset: ${value}`).replace("---\n", "")}${sops}` },
    );
    expect(refused).toMatchObject({
      code: 1,
      out: expect.stringContaining("spec.preset: is encrypted by SOPS: decrypt"),
    });
    const { diagnostics } = readDeclared([write("branch", { provider })], undefined, () => undefined, false);
    expect(diagnostics).toMatchObject([{ severity: "error", path: "data.api-key" }]);
  });

  test("beside --data, or on a path that leads nowhere, is wrong use", async () => {
    const manifests = write("branch", SMALL);
    const beside = await keyplane(["plan", "-f", manifests, "--base", manifests, "--data", folder]);
    expect([beside.code, beside.err]).toEqual([
      2,
      expect.stringContaining("--data, --kubeconfig and --base are several things"),
    ]);
    expect(await keyplane(["plan", "-f", manifests, "--base", join(folder, "nowhere")])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/--base \S+nowhere: there is no such file or folder/),
    });
  });

  test("b474: refuses standard input, which it does not read, as what to compare with", async () => {
    const manifests = write("branch", SMALL);
    for (const filename of [manifests, "-"]) {
      expect(await keyplane(["plan", "-f", filename, "--base", "-"]), filename).toMatchObject({
        code: 2,
        out: "",
        err: expect.stringContaining("--base -: standard input is not read here: write it to a file, and name that"),
      });
    }
  });
});

describe("keyplane plan --base shows what will not be as declared", () => {
  const library = (name: string, spec = "") =>
    `apiVersion: keyplane.dev/v1alpha1\nkind: MemoryLibrary\nmetadata: { name: ${name}, namespace: dev }\nspec: { ${spec} }\n`;
  const secret = (data: string) =>
    `apiVersion: v1\nkind: Secret\nmetadata: { name: provider, namespace: dev }\nstringData: { ${data} }\n`;
  const routed = gateway("https://api.example.com").replace("publicID:", "routesOnly: true\n  publicID:");

  test.each<[what: string, branch: Files, says: string]>([
    [
      "a library in a namespace that no team claims",
      { more: library("notes").replace("namespace: dev", "namespace: unowned") },
      "MemoryLibrary unowned/notes will not be ready: NamespaceUnclaimed: No PlatformTeam claims this namespace. Correct the namespace, or add it to spec.namespaces of a PlatformTeam.",
    ],
    [
      "a namespace that another team has, whatever the teams are called",
      { more: team("a-team", "dev") },
      "PlatformTeam a-team will not be ready: NamespaceTaken: dev is held by PlatformTeam research. Remove the namespace from this team, or from the one that holds it.",
    ],
    [
      "a library that is embedded through a gateway that is not there",
      { more: library("notes", "embedding: { gatewayRef: { name: mian }, model: small }") },
      "MemoryLibrary dev/notes will not be ready: ReferenceNotFound: spec.embedding.gatewayRef: the team has no ModelGateway dev/mian, so that nothing is embedded. Declare what is referred to, or correct its name and namespace.",
    ],
    [
      "a library that reads conversations through a gateway that is not there",
      { more: library("notes", "extraction: { gatewayRef: { name: mian }, model: small }") },
      "MemoryLibrary dev/notes will not be ready: ReferenceNotFound: spec.extraction.gatewayRef: the team has no ModelGateway dev/mian, so that no conversation is read. Declare what is referred to, or correct its name and namespace.",
    ],
    [
      "a gateway with another's public id, whatever the gateways are called",
      { more: gateway("https://api.example.com").replace("name: main", "name: a") },
      "ModelGateway dev/a will not be ready: PublicIDTaken: The public id dev-main belongs to another gateway. Declare another ModelGateway with another spec.publicID, and delete this one.",
    ],
    [
      "a gateway whose credential has another data key",
      { more: secret("apikey: x") },
      "ModelGateway dev/main will not be ready: CredentialNotFound: There is no Secret provider with data key api-key (upstream a). Create the Secret that spec.upstreams[].credentialRef names, with that key.",
    ],
    [
      "b422: a gateway whose credential would be a key of Keyplane",
      { provider: key("provider", "preset: MCPReadOnly") },
      "ModelGateway dev/main will not be ready: CredentialNotFound: credentialRef of upstream a names Secret provider, which PlatformKey provider writes: its key would go to the provider. Name another Secret. Create the Secret that spec.upstreams[].credentialRef names, with that key.",
    ],
    [
      "a key that would be written to another key's Secret, whatever the keys are called",
      { more: key("another", "preset: MCPReadOnly, secret: { name: plain }") },
      "PlatformKey dev/another will not be ready: SecretConflict: Secret plain exists and is not this key's. Declare another PlatformKey with another spec.secret.name; or delete the Secret that is in the way, unless another PlatformKey writes it.",
    ],
    [
      "a model that no route of a gateway with routesOnly has",
      {
        gateway: routed,
        bound: key("bound", "preset: GatewayDefault, gatewayRef: { name: main }, allowedModels: [fst]"),
      },
      'PlatformKey dev/bound names model "fst", of which ModelGateway dev/main has no route, and it serves its routes alone',
    ],
  ])("%s, and --fail-on blocked ends with 1", async (_, branch, says) => {
    const blocked = { ...SMALL, ...branch };
    const { code, lines } = await plan(SMALL, blocked, "--fail-on", "blocked");
    expect([code, lines.filter((line) => line.startsWith("!"))]).toEqual([1, [`! ${says}`]]);
    expect((await plan(SMALL, blocked)).code).toBe(0);
    expect((await plan(blocked, blocked, "--fail-on", "blocked")).code).toBe(0);
  });

  test("but nothing of a credential that is not among the manifests, nor of a key whose Secret goes with another", async () => {
    const renamed = {
      ...MAIN,
      templated: key("renamed", "preset: MCPReadOnly, secret: { name: there, template: Env }"),
    };
    expect((await plan(MAIN, renamed, "--fail-on", "blocked")).code).toBe(0);
  });
});

describe("keyplane plan shows values", () => {
  test("of each field that differs, items of lists by their names", async () => {
    const { lines } = await plan(SMALL, {
      ...SMALL,
      gateway: gateway("https://other.example.com", ", { model: slow, routeID: r2, upstream: a, upstreamModel: big }"),
      team: team("research", "dev", "spare"),
    });
    expect(lines.slice(0, -1)).toEqual([
      '~ update ModelGateway dev/main: spec.upstreams[a].baseURL: "https://api.example.com" -> "https://other.example.com"',
      expect.stringMatching(/^~ update ModelGateway dev\/main: spec.routes\[slow\]: none -> \{"model":"slow",/),
      '~ update PlatformTeam research: spec.namespaces: ["dev"] -> ["dev","spare"]',
    ]);
  });

  test("but no credential, and nothing that a terminal obeys", async () => {
    const pasted = `inf_${"x".repeat(40)}`;
    const { out } = await plan(
      { ...MAIN, team: hook("https://hooks.example.com/services/T1/first-token") },
      {
        ...MAIN,
        team: hook("https://hooks.example.com/services/T1/second-token"),
        plain: key("plain", `preset: MCPReadOnly, displayName: "${pasted} \\e[2J\\u200f"`),
        rotating: key("rotating", `preset: MCPReadOnly, rotation: { interval: 720h, trigger: "${pasted}" }`),
      },
    );
    expect(out).toContain('"url":"https://hooks.example.com/..."');
    expect(out).not.toMatch(/token|inf_x|[\p{Cf}]/u);
    expect(out).not.toContain(String.fromCharCode(27));
    expect(out).toContain("name: plain -> inf_...");
  });
});

describe("keyplane plan --detailed-exitcode", () => {
  const changed = { ...SMALL, plain: key("plain", "preset: MCPReadWrite") };

  test("ends with 2 where something would change, and else with 0", async () => {
    expect((await plan(SMALL, changed)).code).toBe(0);
    expect((await plan(SMALL, changed, "--detailed-exitcode")).code).toBe(2);
    expect((await plan(SMALL, SMALL, "--detailed-exitcode")).code).toBe(0);
  });

  test("ends with 1 for whatever is wrong, its own use too, so that 2 is a change and nothing else", async () => {
    expect((await plan(SMALL, { ...changed, more: "[" }, "--detailed-exitcode")).code).toBe(1);
    expect((await plan(SMALL, changed, "--detailed-exitcode", "--outputs")).code).toBe(1);
    expect((await keyplane(["plan", "--detailed-exitcode"])).code).toBe(1);
    expect((await keyplane(["plan", "--outputs"])).code).toBe(2);
  });

  test("ends with 1 beside --fail-on blocked, and with 2 for a change where nothing is blocked", async () => {
    const flags = ["--detailed-exitcode", "--fail-on", "blocked"];
    const stray = { ...changed, stray: key("stray", "preset: MCPReadOnly", "elsewhere") };
    expect((await plan(SMALL, stray, ...flags)).code).toBe(1);
    expect((await plan(SMALL, changed, ...flags)).code).toBe(2);
    expect((await plan(SMALL, changed, "--fail-on", "blocks")).code).toBe(2);
  });
});

test("keyplane plan colours its lines by their signs where there are colours, and no other format", async () => {
  const paths = [write("branch", { ...MAIN, plain: "", fresh: key("fresh") })];
  const base = write("main", MAIN);
  const show = async (output: "text" | "markdown", hasColours: boolean) => {
    const said: string[] = [];
    await runPlan({ paths, base, output, hasColours }, {}, (text) => said.push(text), Date.now());
    return said.join("\n");
  };
  const lines = (await show("text", true)).split("\n");
  expect(lines[0]).toBe(
    styleText("green", "+ create PlatformKey dev/fresh: memory:read, memory:write, in Secret dev/fresh", {
      validateStream: false,
    }),
  );
  expect(lines.map((line) => stripVTControlCharacters(line)).join("\n")).toBe(await show("text", false));
  expect(await show("markdown", true)).toBe(await show("markdown", false));
});

describe("keyplane plan -o", () => {
  const branch = {
    ...MAIN,
    plain: key("plain", "preset: MCPReadWrite"),
    templated: "",
    stray: key("stray", "preset: MCPReadOnly, gatewayRef: { name: gone }"),
  };

  test("json counts objects and has each with what happens to it", async () => {
    const { code, out } = await plan(MAIN, branch, "-o", "json");
    const document = JSON.parse(out);
    expect(code).toBe(0);
    expect(document.counts).toEqual({
      create: 1,
      change: 1,
      delete: 1,
      unchanged: 9,
      blocked: 1,
      warnings: 1,
      refused: 0,
    });
    expect(document.objects).toContainEqual({
      ...{ kind: "PlatformKey", namespace: "dev", name: "plain", action: "change" },
      changes: [
        {
          sign: "~",
          text: "update PlatformKey dev/plain: scopes: memory:read -> memory:read, memory:write",
          ...{ field: "scopes", before: "memory:read", after: "memory:read, memory:write" },
        },
      ],
    });
    expect(document).toEqual({ ...document, held: [], refused: [] });
  });

  test("yaml has the same, and both say what is refused, where and why", async () => {
    const faulty = { ...branch, more: "a: [" };
    const [json, yaml] = [await plan(MAIN, faulty, "-o", "json"), await plan(MAIN, faulty, "-o", "yaml")];
    expect(parse(yaml.out)).toEqual(JSON.parse(json.out));
    expect([yaml.code, JSON.parse(json.out).refused]).toEqual([
      1,
      [
        {
          file: join(folder, "branch/more.yaml"),
          line: 1,
          column: expect.any(Number),
          path: "",
          message: expect.any(String),
        },
      ],
    ]);
  });

  test("markdown has what is ended on top, a row for each object, and all lines folded", async () => {
    const { out } = await plan(MAIN, branch, "-o", "markdown");
    const notReady =
      "! PlatformKey dev/stray will not be ready: ReferenceNotFound: ModelGateway dev/gone is not in this team. Declare what is referred to, or correct its name and namespace.";
    expect(out).toBe(`<!-- keyplane plan -->

### keyplane plan: 1 to create, 1 to change, 1 to delete, 9 unchanged, 1 to look at

> [!WARNING]
> - \` ${notReady} \`
> - \` - revoke PlatformKey dev/templated: when it was last used is known to a running server alone \`
> - \` - delete Secret dev/there \`

| object | is | changes |
|---|---|---|
| \` PlatformKey dev/plain \` | changed | 1 |
| \` PlatformKey dev/stray \` | created | 2 |
| \` PlatformKey dev/templated \` | deleted | 2 |

<details><summary>5 lines</summary>

\`\`\`diff
~ update PlatformKey dev/plain: scopes: memory:read -> memory:read, memory:write
+ create PlatformKey dev/stray: no key is minted yet
${notReady}
- revoke PlatformKey dev/templated: when it was last used is known to a running server alone
- delete Secret dev/there
\`\`\`

</details>
`);
  });

  test("markdown takes nothing of a manifest for markup, a mention or the end of a block", async () => {
    const evil =
      "`@all<img src=y>` ```</details><img src=x onerror=alert(1)>@all | a [b](https://evil.example) `c` <!--";
    const escaped = JSON.stringify(evil);
    const { out } = await plan(
      MAIN,
      {
        ...MAIN,
        plain: key("plain", `preset: MCPReadOnly, state: Suspended, displayName: ${escaped}`),
        gateway: gateway("https://api.example.com").replace("small", evil.replaceAll('"', "").replace(/ .*/, "")),
        broken: `apiVersion: keyplane.dev/v1alpha1\nkind: ${escaped}\nmetadata: { name: ${escaped}, namespace: dev }\n`,
      },
      "-o",
      "markdown",
    );
    expect(out).toContain("@all");
    expect(withoutCode(out)).not.toMatch(/@all|<img|evil\.example|<!--.*<!--/s);
    expect(withoutCode(out).match(/<\/details>/g)).toHaveLength(1);
  });

  test("markdown fits a comment, however much changes, and says what is left out", async () => {
    // The lines of 250 are more than a comment holds, since each has the long name of a Secret.
    const many = Array.from({ length: 250 }, (_, i) =>
      key(`key-${i}`, `preset: MCPReadOnly, secret: { name: ${"x".repeat(230)}-${i} }`),
    ).join("");
    const { out } = await plan({}, { ...MAIN, many }, "-o", "markdown");
    expect(out.length).toBeLessThan(65_536);
    expect(out).toMatch(/^and \d+ more$[\s\S]*^\d+ more lines are in the output of `keyplane plan`\.$/m);
  });
});

/** A comment without its blocks and spans of code, as CommonMark finds them. */
function withoutCode(markdown: string): string {
  return markdown.replace(/^(`{3,})diff\n.*?^\1$/gms, "").replace(/(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/gs, "");
}
