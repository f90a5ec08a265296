/** Returns the entries of a folder; empty if it cannot be read, which stops no other folder from being looked into. */
import { readdir } from "node:fs/promises";

const direntsOf = (path: string) => readdir(path, { withFileTypes: true }).catch(() => []);

export async function entriesOf(path: string): Promise<string[]> {
  return (await direntsOf(path)).map(({ name }) => name);
}

export async function subfoldersOf(path: string): Promise<string[]> {
  return (await direntsOf(path)).filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
