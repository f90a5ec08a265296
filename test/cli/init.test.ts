import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import shippedSchema from "../../schemas/manifest.json" with { type: "json" };
import { keyplane } from "./up.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keyplane-init-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("keyplane init", () => {
  test("writes what validate takes, with a warning of the credential to put in, and what to do next", async () => {
    const dir = join(folder, "my manifests");
    const { code, out, err } = await keyplane(["init", dir, "--team", "research"]);
    expect([code, err]).toEqual([0, ""]);
    const written = readdirSync(dir);
    for (const file of written) expect(out).toMatch(new RegExp(`^wrote .*/${file} `, "m"));
    const [validate = "", up] = [...out.matchAll(/^ {2}(\/.* (?:validate|up) .*)$/gm)].map(([, line]) => line);
    expect(up?.endsWith(` up --manifests '${dir}' --data ${join(process.cwd(), ".keyplane")}`), up).toBe(true);
    // As it is printed, in another folder.
    const { stdout: says } = await promisify(execFile)("sh", ["-c", validate], { cwd: tmpdir() });
    expect(says).toMatch(
      /^.*10-team.yaml:2:1: note: Namespace is passed over\n.*20-gateway.yaml:14:45: warning: .* is still replace-me: .*\n5 manifests, 0 errors, 1 warning, 1 /,
    );
  });

  test("has editors check each manifest of Keyplane by the schema that the package ships, in the folder itself", async () => {
    await keyplane(["init", folder, "--team", "research"]);
    const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
    const documents = files.flatMap((file) => readFileSync(join(folder, file), "utf8").split(/^---\n/m));
    const ours = documents.filter((text) => text.includes("apiVersion: keyplane.dev/"));
    const named = ours.map((text) => /^# yaml-language-server: \$schema=(\S+)$/m.exec(text)?.[1]);
    expect([ours.length, new Set(named)]).toEqual([4, new Set([".manifest.schema"])]);
    const schema = JSON.parse(readFileSync(join(folder, ".manifest.schema"), "utf8"));
    expect(schema).toEqual(shippedSchema);
    const check = formats.default(new Ajv(), ["date-time", "int32", "int64"]).compile(schema);
    for (const text of documents) expect([check(parse(text)), check.errors]).toEqual([true, null]);
    for (const text of ours) expect(check(parse(text.replace(/^ {2}(?=\w+:)/gm, "")))).toBe(false);
  });

  test("says what it wrote as a document, too", async () => {
    const { code, out } = await keyplane(["init", folder, "-o", "json"]);
    const { files } = JSON.parse(out);
    expect([code, files.map(({ path }: { path: string }) => path)]).toEqual([
      0,
      expect.arrayContaining([join(folder, "10-team.yaml"), join(folder, "30-keys.yaml")]),
    ]);
  });

  test("keeps the provider's credential from Git and from others on the machine", async () => {
    await keyplane(["init", folder]);
    const [name = ""] = readFileSync(join(folder, ".gitignore"), "utf8").trim().split("\n").slice(-1);
    expect(readFileSync(join(folder, name), "utf8")).toContain("api-key: replace-me");
    expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
  });

  test.each([".gitignore", ".manifest.schema"])("writes nothing into a folder that has a %s already", async (file) => {
    writeFileSync(join(folder, file), "");
    const { code, err } = await keyplane(["init", folder]);
    expect([code, err]).toEqual([2, `keyplane: ${folder} has ${file} in it: name a folder with nothing in it\n`]);
    expect(readdirSync(folder)).toEqual([file]);
  });

  test("writes files in whose order kubectl finds each namespace before what is in it", async () => {
    await keyplane(["init", folder, "--team", "a-team", "--namespace", "on"]);
    const files = readdirSync(folder)
      .filter((file) => file.endsWith(".yaml"))
      .sort();
    const kinds = files.flatMap((file) =>
      parseAllDocuments(readFileSync(join(folder, file), "utf8"), { version: "1.1" }).map((one) => one.toJS()),
    );
    expect(kinds.map(({ kind }) => kind)).toEqual([
      "Namespace",
      "PlatformTeam",
      "MemoryLibrary",
      "Secret",
      "ModelGateway",
      "PlatformKey",
    ]);
    // YAML 1.1, as kubectl reads it, takes a bare `on` for true.
    expect(kinds[0].metadata.name).toBe("on");
  });

  test.each([".git", ".editorconfig"])("takes a folder with nothing but %s in it", async (name) => {
    writeFileSync(join(folder, name), "");
    expect((await keyplane(["init", folder])).code).toBe(0);
  });

  test("overwrites nothing: a folder with anything in it is wrong use, and stays as it is", async () => {
    writeFileSync(join(folder, "mine.yaml"), "mine");
    const { code, err } = await keyplane(["init", folder]);
    expect([code, err]).toEqual([2, `keyplane: ${folder} has mine.yaml in it: name a folder with nothing in it\n`]);
    expect(readdirSync(folder)).toEqual(["mine.yaml"]);
    await keyplane(["init", join(folder, "new")]);
    expect((await keyplane(["init", join(folder, "new")])).code).toBe(2);
  });

  test("says of a file where the folder should be to name another folder, and no flag that it has not", async () => {
    writeFileSync(join(folder, "file"), "");
    for (const dir of [join(folder, "file"), join(folder, "file/below")]) {
      const { code, err } = await keyplane(["init", dir]);
      expect([code, err]).toEqual([2, expect.stringMatching(/^keyplane: init \S+: .*: name another folder\n$/)]);
    }
  });

  test("takes no empty path, as of a variable that is not set, for a folder", async () => {
    const { code, err } = await keyplane(["init", ""]);
    expect([code, err]).toEqual([2, expect.stringMatching(/^keyplane: init: name a folder/)]);
  });

  test.each([
    ["--team", "My Team"],
    ["--namespace", "a: b"],
    ["--namespace", "-a"],
  ])("refuses a name that Kubernetes would refuse: %s %s", async (flag, name) => {
    const { code, err } = await keyplane(["init", join(folder, "new"), `${flag}=${name}`]);
    expect([code, err]).toEqual([2, expect.stringContaining(`${flag} ${name}: write a name`)]);
    expect(readdirSync(folder)).toEqual([]);
  });
});
