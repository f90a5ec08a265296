import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";

/**
 * The version of the package that this file is of, in a checkout and where it is installed.
 *
 * @throws where its package.json is gone
 */
export function packageVersion(): string {
  const file = findPackageJSON(import.meta.url);
  if (file === undefined) throw new Error("Keyplane's package.json is not there: install it again");
  const { version }: { version: string } = JSON.parse(readFileSync(file, "utf8"));
  return version;
}
