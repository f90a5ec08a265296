/** What package.json asks for in `engines`: the oldest release that has all that is used. */
export const OLDEST_NODE = "22.19.0";

/**
 * Ends the process with exit code 2 on a Node that is too old. To be called before any other import: those of ours
 * would end it with a stack.
 *
 * @param command the name to begin the message with
 */
export function assertNodeVersion(command: string, version: string = process.versions.node): void {
  if (!isOlder(version, OLDEST_NODE)) return;
  process.stderr.write(
    `${command}: Node.js ${OLDEST_NODE} or later is needed, and this is ${version}: install a later one\n`,
  );
  process.exit(2);
}

/** Of two releases such as `22.19.0`. */
export function isOlder(version: string, than: string): boolean {
  const [left, right] = [version, than].map((one) => one.split(".").map(Number));
  const at = [0, 1, 2].find((place) => left?.[place] !== right?.[place]);
  return at !== undefined && (left?.[at] ?? 0) < (right?.[at] ?? 0);
}
