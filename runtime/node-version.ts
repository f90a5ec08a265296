/** Oldest supported release, as package.json states it in `engines`: it has all features that are used. */
export const OLDEST_NODE = "22.19.0";

/**
 * Ends the process with exit code 2 on a Node that is too old. Call it before any other import: on such a Node, our
 * other modules would end the process with a stack trace.
 *
 * @param command name at the beginning of the message
 */
export function assertNodeVersion(command: string, version: string = process.versions.node): void {
  if (!isOlder(version, OLDEST_NODE)) return;
  process.stderr.write(
    `${command}: Node.js ${OLDEST_NODE} or later is needed, and this is ${version}: install a later one\n`,
  );
  process.exit(2);
}

/** True if a release such as `22.19.0` is older than another. */
export function isOlder(version: string, than: string): boolean {
  const [left, right] = [version, than].map((one) => one.split(".").map(Number));
  const at = [0, 1, 2].find((part) => left?.[part] !== right?.[part]);
  return at !== undefined && (left?.[at] ?? 0) < (right?.[at] ?? 0);
}
