import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { UsageError } from "../../../cli/command/usage-error.ts";
import { runValidate } from "../../../cli/validate/validate.ts";

const MAIN = fileURLToPath(new URL("../../../cli/main.ts", import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keyplane-validate-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const TEAM =
  "apiVersion: keyplane.dev/v1alpha1\nkind: PlatformTeam\nmetadata: { name: a }\nspec: { namespaces: [team-a] }\n";
const library = (name: string) =>
  `apiVersion: keyplane.dev/v1alpha1\nkind: MemoryLibrary\nmetadata: { name: ${name}, namespace: team-a }\nspec: {}\n`;
const key = (name: string, spec: string) =>
  `apiVersion: keyplane.dev/v1alpha1\nkind: PlatformKey\nmetadata: { name: ${name}, namespace: team-a }\nspec: ${spec}\n`;

function write(file: string, text: string): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
}

async function validate(...paths: string[]): Promise<{ code: number; lines: string[] }> {
  const lines: string[] = [];
  const code = await runValidate({ paths }, (line) => lines.push(line.replaceAll(folder, "DIR")));
  return { code, lines };
}

test("shows nothing that a terminal obeys of the name of a file with the same object", async () => {
  write("a\u001b[31m.yaml", library("a"));
  write("b.yaml", library("a"));
  const { lines } = await validate(folder);
  expect(lines.join("\n")).toContain("is declared in DIR/a\uFFFD[31m.yaml:3 too");
});

test("b318: a Secret that SOPS has encrypted is valid, and what was not read is said; the Secret that a gateway needs is there", async () => {
  const sops = 'sops: { mac: "ENC[AES256_GCM,data:abc=,iv:abc=,tag:abc==,type:str]", version: 3.11.0 }\n';
  write("a.yaml", TEAM);
  write(
    "b.yaml",
    `apiVersion: v1\nkind: Secret\nmetadata: { name: provider, namespace: team-a }\ndata: { api-key: "ENC[AES256_GCM,data:Tr7o,iv:1vTu,tag:k1vT,type:str]" }\n${sops}`,
  );
  write(
    "c.yaml",
    "apiVersion: keyplane.dev/v1alpha1\nkind: ModelGateway\nmetadata: { name: g, namespace: team-a }\nspec: { publicID: g, upstreams: [{ name: a, dialect: openai, baseURL: 'https://a.example', credentialRef: { name: provider } }], routes: [] }\n",
  );
  write(
    "d.yaml",
    `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: c }\ndata: { a: "ENC[AES256_GCM,data:a]" }\n${sops}`,
  );
  const { code, lines } = await validate(folder);
  expect([code, lines]).toEqual([
    0,
    [
      "DIR/b.yaml:4:9: note: data.api-key: is encrypted by SOPS: not read",
      "DIR/d.yaml:1:1: note: ConfigMap is passed over",
      "3 manifests, 0 errors, 0 warnings, 1 of other kinds passed over",
    ],
  ]);
});

test("a folder of valid manifests ends with 0 and a summary, those below it and JSON included", async () => {
  write("a.yaml", library("a"));
  write("deeper/still/b.yml", `${library("b")}---\n${library("c")}`);
  write(
    "c.json",
    JSON.stringify({
      ...{ apiVersion: "keyplane.dev/v1alpha1", kind: "PlatformTeam", metadata: { name: "t" } },
      spec: { namespaces: ["team-a"] },
    }),
  );
  write("README.md", "not a manifest");
  write(".git/config.yaml", "not: a manifest");
  expect(await validate(folder)).toEqual({ code: 0, lines: ["4 manifests, 0 errors, 0 warnings"] });
});

test("what keyplane up keeps in a data folder among the manifests is no manifest", async () => {
  write("a.yaml", library("a"));
  write("db/b.yaml", library("b"));
  write("data/cluster-id", "1");
  write("data/db/PG_VERSION", "18");
  write("data/status/team-a/MemoryLibrary/a.json", library("a"));
  write("team.yaml", TEAM);
  expect(await validate(folder)).toEqual({ code: 0, lines: ["3 manifests, 0 errors, 0 warnings"] });
});

test("each fault is one line with its place, in the order of files and lines, and the command fails", async () => {
  write("team.yaml", TEAM);
  write("a.yaml", key("k", "{ scopes: [memory:reed] }"));
  write("b.yaml", `${library("b")}---\n${key("l", "{ preset: MCPReadOnly, colour: red }")}`);
  expect(await validate(folder)).toEqual({
    code: 1,
    lines: [
      'DIR/a.yaml:4:18: error: spec.scopes[0]: unknown value "memory:reed": did you mean memory:read?',
      expect.stringMatching(/^DIR\/b\.yaml:9:30: error: spec\.colour: unknown field: write one of displayName, /),
      "4 manifests, 2 errors, 0 warnings",
    ],
  });
});

test.each(["json", "yaml"] as const)("-o %s has the counts, and each fault with its place", async (output) => {
  write("team.yaml", TEAM);
  write("a.yaml", key("k", "{ scopes: [memory:reed] }"));
  write("b.yaml", `${library("b")}---\n${key("l", "{ preset: GatewayDefault, gatewayRef: { name: g } }")}`);
  const said: string[] = [];
  const out = (text: string) => said.push(text);
  const code = await runValidate({ paths: [folder], output }, out);
  const at = { line: expect.any(Number), column: expect.any(Number), message: expect.any(String) };
  expect([code, ...said.map((text) => parse(text))]).toEqual([
    1,
    {
      ...{ manifests: 4, errors: 1, warnings: 1, passedOver: 0 },
      diagnostics: [
        { severity: "error", file: join(folder, "a.yaml"), ...at, line: 4, column: 18, path: "spec.scopes[0]" },
        { severity: "warning", file: join(folder, "b.yaml"), ...at, path: "spec.gatewayRef" },
      ],
    },
  ]);
  rmSync(join(folder, "a.yaml"));
  rmSync(join(folder, "team.yaml"));
  write("b.yaml", "");
  expect(await runValidate({ paths: [folder], output }, out)).toBe(1);
  expect(parse(said[1] ?? "")).toEqual({ manifests: 0, errors: 0, warnings: 0, passedOver: 0, diagnostics: [] });
});

test("one file may be named, whatever its ending", async () => {
  write("manifest.txt", library("a"));
  expect((await validate(join(folder, "manifest.txt"))).code).toBe(0);
});

test("a file that cannot be read is a fault like others", async () => {
  write("team.yaml", TEAM);
  write("a.yaml", library("a"));
  symlinkSync(join(folder, "nowhere"), join(folder, "b.yaml"));
  const { code, lines } = await validate(folder);
  expect(code).toBe(1);
  expect(lines[0]).toMatch(/^DIR\/b\.yaml:1:1: error: cannot be read: ENOENT/);
});

test("one object that is declared twice is an error that says where the other is", async () => {
  write("team.yaml", TEAM);
  write("a.yaml", library("a"));
  write("b.yaml", `# a comment\n${library("a")}`);
  expect(await validate(folder)).toEqual({
    code: 1,
    lines: [
      "DIR/b.yaml:4:19: error: metadata.name: MemoryLibrary team-a/a is declared in DIR/a.yaml:3 too: remove one of the two",
      "3 manifests, 1 error, 0 warnings",
    ],
  });
});

test("a file that is named twice is no duplicate", async () => {
  write("a.yaml", library("a"));
  expect((await validate(folder, join(folder, "a.yaml"))).code).toBe(0);
});

test("a library or gateway that is not among the manifests is a warning, since the cluster may have it", async () => {
  write("team.yaml", TEAM);
  write(
    "a.yaml",
    key("k", "{ preset: GatewayDefault, gatewayRef: { name: g }, mcpDefaultLibraryRef: { name: a, namespace: o } }"),
  );
  write("b.yaml", library("a"));
  const { code, lines } = await validate(folder);
  expect(code).toBe(0);
  expect(lines).toEqual([
    expect.stringMatching(/^DIR\/a\.yaml:4:\d+: warning: spec\.gatewayRef: there is no ModelGateway team-a\/g among/),
    expect.stringMatching(
      /^DIR\/a\.yaml:4:\d+: warning: spec\.mcpDefaultLibraryRef: there is no MemoryLibrary o\/a among/,
    ),
    "3 manifests, 0 errors, 2 warnings",
  ]);
});

describe("objects of other kinds", () => {
  const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: d }\n";
  const namespace = "apiVersion: v1\nkind: Namespace\nmetadata: { name: n }\n";

  test("are passed over with one note a file, and are no fault", async () => {
    write("all.yaml", [namespace, library("a"), deployment, TEAM].join("---\n"));
    write("kustomization.yaml", "resources: [all.yaml]\n");
    expect(await validate(folder)).toEqual({
      code: 0,
      lines: [
        "DIR/all.yaml:1:1: note: 2 objects of other kinds are passed over: Namespace, Deployment",
        "DIR/kustomization.yaml:1:1: note: Kustomization is passed over",
        "2 manifests, 0 errors, 0 warnings, 3 of other kinds passed over",
      ],
    });
  });

  test("are no fault whatever YAML they are written in", async () => {
    write("a.yaml", `${deployment}spec: { a: &x 1, b: *x, c: !custom 0777 }\n`);
    expect((await validate(folder)).lines.at(-1)).toBe(
      "0 manifests, 0 errors, 0 warnings, 1 of other kinds passed over",
    );
  });

  test.each([
    ["kubeai.org/v1", "Model"],
    ["kagent.dev/v1alpha1", "Memory"],
    ["secretsmanager.aws.upbound.io/v1beta1", "Secret"],
    ["secretsmanager.services.k8s.aws/v1alpha1", "Secret"],
  ])("are no fault where another API has a kind like ours: %s %s", async (apiVersion, kind) => {
    write("a.yaml", `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: a, namespace: team-a }\n`);
    expect((await validate(folder)).lines).toEqual([
      `DIR/a.yaml:1:1: note: ${kind} is passed over`,
      "0 manifests, 0 errors, 0 warnings, 1 of other kinds passed over",
    ]);
  });

  test.each([
    ["keyplane.dev/v1alpha1", "PlatformKee", "unknown kind"],
    ["keyplane.dev/v1alpha1", "Gadget", "unknown kind"],
    ["keyplan.dev/v1alpha1", "Gadget", "unknown kind"],
    ["keyplane.dev/v2", "PlatformKey", "unknown apiVersion"],
    ["example.com/v1", "PlatformKey", "unknown apiVersion"],
    ["example.com/v1", "Platformkey", "did you mean PlatformKey?"],
    ["keyplane.io/v1alpha1", "PlatformKey", "unknown apiVersion"],
    ["keyplane.dev/v1alpha1", "Secret", "unknown apiVersion"],
    ["v2", "Secret", "unknown apiVersion"],
    ["v1", "Secrets", "did you mean Secret?"],
  ])("are none of ours misspelt: %s %s", async (apiVersion, kind, says) => {
    write("a.yaml", `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: a, namespace: n }\n`);
    const { code, lines } = await validate(folder);
    expect([code, lines[0]]).toEqual([1, expect.stringContaining(says)]);
  });
});

test("the items of a list are manifests, each fault at its own line, as kubectl prints them", async () => {
  const items = [library("a"), library("a"), key("k", "{ preset: MCPReadOnli }"), "apiVersion: v1\nkind: ConfigMap\n"];
  const list = {
    apiVersion: "v1",
    kind: "List",
    metadata: { resourceVersion: "" },
    items: items.map((one) => parse(one)),
  };
  write("list.yaml", stringify(list));
  write("team.yaml", TEAM);
  const { code, lines } = await validate(folder);
  expect(code).toBe(1);
  expect(lines).toEqual([
    expect.stringMatching(
      /^DIR\/list.yaml:15:\d+: error: items\[1\].metadata.name: MemoryLibrary team-a\/a is declared in/,
    ),
    expect.stringMatching(/^DIR\/list.yaml:24:\d+: error: items\[2\].spec.preset: .*did you mean MCPReadOnly\?/),
    expect.stringMatching(/^DIR\/list.yaml:25:\d+: note: items\[3\]: ConfigMap is passed over/),
    "4 manifests, 2 errors, 0 warnings, 1 of other kinds passed over",
  ]);
});

test("standard input is checked too, from a program that takes its time", async () => {
  const validating = spawn(process.execPath, [MAIN, "validate", "-f", "-"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const out = text(validating.stdout);
  validating.stdin.write(`${TEAM}---\n${library("a")}`);
  setTimeout(() => validating.stdin.end(`---\n${key("k", "{ preset: MCPReadOnli }")}`), 50);
  const [code] = await once(validating, "close");
  expect([code, (await out).split("\n")[0]]).toEqual([
    1,
    expect.stringMatching(/^<stdin>:14:\d+: error: spec.preset: /),
  ]);
});

test("c99: what is not in UTF-8 is an error, in a file, from standard input and in a price list", async () => {
  const latin1 = Buffer.from(TEAM.replace("[team-a] }", '[team-a], displayName: "Größe" }'), "latin1");
  writeFileSync(join(folder, "a.yaml"), latin1);
  writeFileSync(join(folder, "prices"), latin1);
  const lines: string[] = [];
  const paths = [join(folder, "a.yaml"), "-"];
  const code = await runValidate({ paths, stdin: latin1, prices: join(folder, "prices") }, (line) => lines.push(line));
  const errors = lines.filter((line) => line.includes("error: the file is no text in UTF-8: save it as UTF-8"));
  expect([code, errors.map((line) => line.replace(/:.*/, "").replace(`${folder}/`, ""))]).toEqual([
    1,
    ["a.yaml", "<stdin>", "prices"],
  ]);
});

test("a file that several paths name is one, shown as it was named first", async () => {
  write("m/a.yaml", `${TEAM}---\n${library("a")}`);
  write("m/b.yaml", library("a"));
  symlinkSync("m", join(folder, "link"));
  for (const [first, others] of [
    ["m", ["m/a.yaml", "m/../m", relative(process.cwd(), join(folder, "m"))]],
    ["link", ["m", "link/b.yaml"]],
  ] as const) {
    const paths = others.map((other) => (other.startsWith("..") ? other : `${folder}/${other}`));
    expect(await validate(join(folder, first), ...paths), first).toEqual({
      code: 1,
      lines: [
        `DIR/${first}/b.yaml:3:19: error: metadata.name: MemoryLibrary team-a/a is declared in DIR/${first}/a.yaml:8 too: remove one of the two`,
        "3 manifests, 1 error, 0 warnings",
      ],
    });
  }
});

describe("--fail-on warnings", () => {
  test("ends with 1 where something is warned of, and not for what is only noted", async () => {
    const gateway = (secret: string) =>
      `apiVersion: keyplane.dev/v1alpha1\nkind: ModelGateway\nmetadata: { name: g, namespace: team-a }\nspec: { upstreams: [{ name: u, dialect: openai, baseURL: "https://api.example.com", credentialRef: { name: ${secret} } }] }\n`;
    write("team.yaml", TEAM);
    write("gateway.yaml", gateway("provider"));
    const failOn = async (failOn: "errors" | "warnings") => {
      const lines: string[] = [];
      const code = await runValidate({ paths: [folder], failOn }, (line) => lines.push(line.replaceAll(folder, "DIR")));
      return { code, lines };
    };
    expect(await failOn("warnings")).toEqual({
      code: 0,
      lines: [
        "DIR/gateway.yaml:4:85: note: spec.upstreams[0].credentialRef: Secret team-a/provider is not among these manifests: see that it is made, with the data key api-key",
        "2 manifests, 0 errors, 0 warnings",
      ],
    });
    write("key.yaml", key("k", "{ preset: GatewayDefault, gatewayRef: { name: gg } }"));
    expect((await failOn("errors")).code).toBe(0);
    const { code, lines } = await failOn("warnings");
    expect([code, lines.at(-1)]).toEqual([1, "3 manifests, 0 errors, 1 warning"]);
  });
});

describe("wrong use", () => {
  test("a path that does not exist ends with 2", async () => {
    const nope = join(folder, "nope");
    await expect(validate(nope)).rejects.toThrow(new UsageError(`--filename ${nope}: there is no such file or folder`));
  });
  test("no path at all ends with 2", async () => {
    await expect(validate()).rejects.toThrow(UsageError);
  });
  test.each(["", "# later\n", "apiVersion: v1\nkind: List\nitems: []\n"])(
    "a file in which nothing is declared is no success, and is named: %j",
    async (text) => {
      write("a.yaml", text);
      expect(await validate(folder)).toEqual({
        code: 1,
        lines: ["no manifest found in DIR/a.yaml: what is there is empty, or an empty list"],
      });
    },
  );
  test("a folder without a manifest is no success", async () => {
    expect(await validate(folder)).toEqual({
      code: 1,
      lines: ["no manifest found in DIR: manifests end in .yaml, .yml, .json"],
    });
  });
});
