import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname } from "node:path";

/**
 * The version of the package that this file is of, in a checkout and where it is installed.
 *
 * @throws where its package.json is gone
 */
export function packageVersion(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(packageFile(), "utf8"));
  return version;
}

/** The root of the package, or of the checkout. @throws where its package.json is gone */
export function packageFolder(): string {
  return dirname(packageFile());
}

function packageFile(): string {
  const file = findPackageJSON(import.meta.url);
  if (file === undefined) throw new Error("Keyplane's package.json is not there: install it again");
  return file;
}
