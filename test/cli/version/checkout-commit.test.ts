import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkoutCommit } from "../../../cli/version/checkout-commit.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keyplane-checkout-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...args], {
    cwd: folder,
    encoding: "utf8",
  });

test("the commit of a checkout is its own, and says where files differ from it", () => {
  git("init", "--quiet");
  writeFileSync(join(folder, "file"), "a");
  git("add", "file");
  git("commit", "--quiet", "--message", "first");
  const head = git("rev-parse", "HEAD").trim();
  expect(checkoutCommit(folder)).toBe(head);
  writeFileSync(join(folder, "file"), "b");
  expect(checkoutCommit(folder)).toBe(`${head}-dirty`);
  mkdirSync(join(folder, "node_modules/keyplane"), { recursive: true });
  expect(checkoutCommit(join(folder, "node_modules/keyplane")), "installed in another's checkout").toBeNull();
});

test("the commit of what is no checkout, or of a broken one, is not known", () => {
  expect(checkoutCommit(folder)).toBeNull();
  writeFileSync(join(folder, ".git"), "gitdir: nowhere\n");
  expect(checkoutCommit(folder)).toBeNull();
});
