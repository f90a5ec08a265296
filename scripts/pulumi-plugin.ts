/**
 * Makes the archives of the Pulumi provider that `pulumi plugin install` takes, one for each system that it asks for:
 * `pulumi-resource-keyplane-vVERSION-OS-ARCH.tar.gz`. All hold the same JavaScript, which runs on the Node.js of the
 * PATH, and those of the package's dependencies that the provider imports, in the versions of package-lock.json.
 *
 * Arguments: the folder to write to.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import packageJson from "../package.json" with { type: "json" };

const ROOT = join(import.meta.dirname, "..");
const NAME = "pulumi-resource-keyplane";
const { version, license, engines, dependencies, devDependencies } = packageJson;

/** Systems, as Pulumi names them. Windows runs no script in a program's place. */
const SYSTEMS = ["linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"];

/** Packages that the provider imports: a test runs it with these alone. */
const IMPORTED = {
  "@marcbachmann/cel-js": dependencies["@marcbachmann/cel-js"],
  "@pulumi/pulumi": devDependencies["@pulumi/pulumi"],
  ajv: dependencies.ajv,
  "ajv-formats": dependencies["ajv-formats"],
};

const START = `#!/bin/sh
exec node "$(dirname "$0")/dist/infra/pulumi/provider/main.js" "$@"
`;

/**
 * Makes the archives.
 *
 * @param folder is made if it is not there
 * @returns the paths of the archives
 * @throws if the sources cannot be emitted, or a dependency cannot be had
 */
export function makePluginArchives(folder: string): string[] {
  const work = mkdtempSync(join(tmpdir(), "keyplane-plugin-"));
  try {
    const plugin = join(work, "plugin");
    mkdirSync(plugin);
    mkdirSync(folder, { recursive: true });
    emit(work, join(plugin, "dist"));
    writeFileSync(join(plugin, NAME), START, { mode: 0o755 });
    const about = { name: NAME, version, private: true, type: "module", license, engines, dependencies: IMPORTED };
    writeFileSync(join(plugin, "package.json"), `${JSON.stringify(about, null, 2)}\n`);
    for (const file of ["LICENSE", "package-lock.json"]) copyFileSync(join(ROOT, file), join(plugin, file));
    // Pulumi takes no archive with a link in it.
    const options = ["--no-bin-links", "--silent", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund"];
    execFileSync("npm", ["install", ...options], { cwd: plugin, stdio: "inherit" });
    const [first = "", ...others] = SYSTEMS.map((system) => join(folder, `${NAME}-v${version}-${system}.tar.gz`));
    execFileSync("tar", ["-czf", first, "-C", plugin, "."]);
    for (const other of others) cpSync(first, other);
    return [first, ...others];
  } finally {
    rmSync(work, { recursive: true });
  }
}

/** Emits the JavaScript that the provider reaches, as the package has it. */
function emit(work: string, dist: string): void {
  const config = {
    extends: join(ROOT, "tsconfig.package.json"),
    compilerOptions: {
      rootDir: ROOT,
      outDir: dist,
      declaration: false,
      typeRoots: [join(ROOT, "node_modules/@types")],
    },
    include: [join(ROOT, "infra/pulumi/provider/main.ts")],
  };
  writeFileSync(join(work, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(ROOT, "node_modules/tsc-native/bin/tsc");
  execFileSync(process.execPath, [tsc, "--project", join(work, "tsconfig.json")], { cwd: ROOT, stdio: "inherit" });
}

if (import.meta.main) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) throw new Error("Usage: node scripts/pulumi-plugin.ts FOLDER");
  for (const archive of makePluginArchives(resolve(folder))) console.log(archive);
}
