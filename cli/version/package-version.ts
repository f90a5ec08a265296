import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname } from "node:path";

/**
 * Returns the version of the package that this file belongs to, in a checkout and where it is installed.
 *
 * @throws if its package.json is missing
 */
export function packageVersion(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(packageFile(), "utf8"));
  return version;
}

/** Returns the root of the package, or of the checkout. @throws if its package.json is missing */
export function packageFolder(): string {
  return dirname(packageFile());
}

function packageFile(): string {
  const file = findPackageJSON(import.meta.url);
  if (file === undefined) throw new Error("Keyplane's package.json is not there: install it again");
  return file;
}
