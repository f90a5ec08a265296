import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { keyplane } from "../cli/up.ts";
import { MANIFEST_MISTAKES } from "./manifests.rows.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keyplane-mistakes-"));
  mkdirSync(join(folder, "manifests"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("says what to do where", () => {
  test.each(MANIFEST_MISTAKES)("$done", async ({ manifests, command, says }) => {
    for (const [file, text] of Object.entries(manifests)) writeFileSync(join(folder, "manifests", file), text);
    const [, ...words] = command.split(" ");
    const { out } = await keyplane(words.map((word) => (word === "manifests" ? join(folder, word) : word)));
    const lines = out.replaceAll(`${folder}/`, "").trimEnd().split("\n");
    expect(lines.slice(0, -1).join("\n")).toBe(says);
    expect(lines.at(-1)).toMatch(/^\d+ manifests, \d+ errors?, \d+ warnings?$/);
  });
});

test("there are 20 mistakes or more, each of its own", () => {
  expect(new Set(MANIFEST_MISTAKES.map(({ done }) => done)).size).toBe(MANIFEST_MISTAKES.length);
  expect(MANIFEST_MISTAKES.length).toBeGreaterThanOrEqual(20);
});
