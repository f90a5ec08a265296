/**
 * Makes the image's part of Keyplane: `node scripts/image.ts FOLDER [TARBALL]`, a folder that is not there yet. The
 * package is packed as its users get it, unless its tarball is named, its dependencies are installed by the lock file,
 * and what nothing reads at run time is left out. The Dockerfile runs this, and so do the tests of the image.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import packageJson from "../package.json" with { type: "json" };

const ROOT = join(import.meta.dirname, "..");
/** Paths of the package that the image has: the others are for people. */
const OF_PACKAGE = ["dist", "package.json", "LICENSE"];
/** Declarations and source maps: with the texts, half of what npm installs. */
const NOT_READ = /\.([cm]?ts|map|flow)$/i;
const TEXT = /\.md$/i;
/** Files that come with each copy of a package. */
const LICENSE = /^(licen[cs]e|notice|copying)/i;

const [, , target, given] = process.argv;
if (target === undefined) throw new Error("usage: node scripts/image.ts FOLDER [TARBALL]");
const folder = resolve(target);
const run = (cwd: string, program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd, stdio: ["ignore", "ignore", "inherit"] });

mkdirSync(folder);
const packed = mkdtempSync(join(tmpdir(), "keyplane-image-"));
if (given === undefined) run(ROOT, "npm", "pack", "--silent", "--pack-destination", packed);
const tarball = given ?? join(packed, `keyplane-${packageJson.version}.tgz`);
const paths = OF_PACKAGE.map((path) => `package/${path}`);
run(folder, "tar", "--extract", "--gzip", `--file=${tarball}`, "--strip-components=1", "--no-same-owner", ...paths);
rmSync(packed, { recursive: true });

copyFileSync(join(ROOT, "package-lock.json"), join(folder, "package-lock.json"));
run(
  folder,
  "npm",
  "ci",
  "--omit=dev",
  "--omit=peer",
  "--ignore-scripts",
  "--prefer-offline",
  "--no-audit",
  "--no-fund",
);
rmSync(join(folder, "package-lock.json"));

for (const file of readdirSync(folder, { encoding: "utf8", recursive: true })) {
  const isLeftOut = NOT_READ.test(file) || (TEXT.test(file) && !LICENSE.test(basename(file)));
  if (isLeftOut) rmSync(join(folder, file), { recursive: true });
}
