import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runValidate } from "../../cli/validate.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keyplane-validate-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

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

test("a folder of valid manifests ends with 0 and a summary, those below it and JSON included", async () => {
  write("a.yaml", library("a"));
  write("deeper/still/b.yml", `${library("b")}---\n${library("c")}`);
  write(
    "c.json",
    JSON.stringify({ apiVersion: "keyplane.dev/v1alpha1", kind: "PlatformTeam", metadata: { name: "t" }, spec: {} }),
  );
  write("README.md", "not a manifest");
  write(".git/config.yaml", "not: a manifest");
  expect(await validate(folder)).toEqual({ code: 0, lines: ["4 manifests, 0 errors, 0 warnings"] });
});

test("each fault is one line with its place, in the order of files and lines, and the command fails", async () => {
  write("a.yaml", key("k", "{ scopes: [memory:reed] }"));
  write("b.yaml", `${library("b")}---\n${key("l", "{ preset: MCPReadOnly, colour: red }")}`);
  expect(await validate(folder)).toEqual({
    code: 1,
    lines: [
      'DIR/a.yaml:4:18: error: spec.scopes[0]: unknown value "memory:reed": did you mean memory:read?',
      expect.stringMatching(/^DIR\/b\.yaml:9:30: error: spec\.colour: unknown field: write one of displayName, /),
      "3 manifests, 2 errors, 0 warnings",
    ],
  });
});

test("one file may be named, whatever its ending", async () => {
  write("manifest.txt", library("a"));
  expect((await validate(join(folder, "manifest.txt"))).code).toBe(0);
});

test("a file that cannot be read is a fault like others", async () => {
  write("a.yaml", library("a"));
  symlinkSync(join(folder, "nowhere"), join(folder, "b.yaml"));
  const { code, lines } = await validate(folder);
  expect(code).toBe(1);
  expect(lines[0]).toMatch(/^DIR\/b\.yaml:1:1: error: cannot be read: ENOENT/);
});

test("one object that is declared twice is an error that says where the other is", async () => {
  write("a.yaml", library("a"));
  write("b.yaml", `# a comment\n${library("a")}`);
  expect(await validate(folder)).toEqual({
    code: 1,
    lines: [
      "DIR/b.yaml:4:19: error: metadata.name: MemoryLibrary team-a/a is declared in DIR/a.yaml:3 too: remove one of the two",
      "2 manifests, 1 error, 0 warnings",
    ],
  });
});

test("a file that is named twice is no duplicate", async () => {
  write("a.yaml", library("a"));
  expect((await validate(folder, join(folder, "a.yaml"))).code).toBe(0);
});

test("a library or gateway that is not among the manifests is a warning, since the cluster may have it", async () => {
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
    "2 manifests, 0 errors, 2 warnings",
  ]);
});

describe("wrong use", () => {
  test("a path that does not exist is 2", async () => {
    expect(await validate(join(folder, "nope"))).toEqual({ code: 2, lines: ["DIR/nope: no such file or folder"] });
  });
  test("no path at all is 2", async () => {
    expect(await validate()).toEqual({ code: 2, lines: ["nothing to validate: name a file or a folder with -f"] });
  });
  test("a folder without a manifest is no success", async () => {
    expect(await validate(folder)).toEqual({
      code: 1,
      lines: ["no manifest found in DIR: manifests end in .yaml, .yml, .json"],
    });
  });
});
