import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Every file below a folder, with all that is in it. */
export function textsBelow(folder: string): [file: string, text: string][] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => [file, readFileSync(file, "latin1")]);
}
