/**
 * Builds `dist/`, the JavaScript of the package; `npm pack` runs it. The commit of the checkout goes into `keyplane
 * version`, or the commit that KEYPLANE_COMMIT names if there is no git, as in the build of the image.
 */
import { execFileSync } from "node:child_process";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkoutCommit } from "../cli/version/checkout-commit.ts";

const ROOT = join(import.meta.dirname, "..");
const DIST = join(ROOT, "dist");

rmSync(DIST, { recursive: true, force: true });
const tsc = join(ROOT, "node_modules/tsc-native/bin/tsc");
execFileSync(process.execPath, [tsc, "--project", "tsconfig.package.json"], { cwd: ROOT, stdio: "inherit" });
cpSync(join(ROOT, "server/pages/assets"), join(DIST, "server/pages/assets"), { recursive: true });
const commit = process.env.KEYPLANE_COMMIT || checkoutCommit(ROOT);
writeFileSync(join(DIST, "cli/version/commit.js"), `export const COMMIT = ${JSON.stringify(commit)};\n`);
