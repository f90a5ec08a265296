/** Tokens that a file holds, one word of random characters: read again as the file changes, and never held themselves. */
import { readFile, stat } from "node:fs/promises";
import type { Logger } from "../../../runtime/log.ts";
import { ConfigError } from "../../../runtime/settings.ts";
import { tokenDigest } from "./management-token.ts";

const MIN_LENGTH = 32;
/** Different characters at least: 32 random hexadecimal digits have fewer once in a million. */
const MIN_DISTINCT = 8;
/**
 * Share at most of characters that equal the character before them or are next to it in the alphabet: 32 random digits
 * of ten have more once in 10^8.
 */
const MAX_IN_ROW = 0.75;
/** Milliseconds between two reads of the file: a changed or removed file takes effect within this and a moment. */
const READ_MS = 1_000;

/** Token of a file, by its SHA-256. */
export type FileToken = {
  /** Null while the file is gone or holds no usable token. */
  readonly digest: Uint8Array | null;
  close(): void;
};

/**
 * Opens the file of a token, and reads it again every second, however it is replaced.
 *
 * @param named flag that names the file, and name of the token in the log
 * @param log logs changes and faults of the file; left out in all threads but one
 * @throws ConfigError if the file holds none at the start
 */
export async function openFileToken(
  file: string,
  named: { readonly flag: string; readonly token: string },
  log?: Logger,
): Promise<FileToken> {
  const first = await readToken(file);
  if ("fault" in first) throw new ConfigError([`${named.flag}: ${file} ${first.fault}`]);
  let known: Read = first;
  if (log !== undefined) await warnOfReaders(file, log);
  const timer = setInterval(async () => {
    const now = await readToken(file);
    if (isSame(known, now)) return;
    known = now;
    if (log === undefined) return;
    if ("fault" in now) log.error({}, `no ${named.token} is accepted: ${file} ${now.fault}`);
    else log.info({}, `the ${named.token} in ${file} has changed: the previous one is no longer accepted`);
  }, READ_MS).unref();
  return {
    get digest() {
      return "digest" in known ? known.digest : null;
    },
    close: () => clearInterval(timer),
  };
}

async function warnOfReaders(file: string, log: Logger): Promise<void> {
  const there = await stat(file).catch(() => undefined);
  if (there !== undefined && (there.mode & 0o004) !== 0)
    log.warn(
      {},
      `${file} can be read by everybody on this machine: chmod o-r '${file}', or defaultMode 0440 of a mounted Secret`,
    );
}

type Read = { readonly digest: Uint8Array } | { readonly fault: string };

function isSame(one: Read, other: Read): boolean {
  if ("fault" in one) return "fault" in other && other.fault === one.fault;
  return "digest" in other && Buffer.compare(one.digest, other.digest) === 0;
}

async function readToken(file: string): Promise<Read> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    return { fault: `cannot be read (${error instanceof Error && "code" in error ? error.code : "unknown"})` };
  }
  const token = text.trim();
  const fault = tokenFault(token);
  return fault === undefined ? { digest: tokenDigest(token) } : { fault };
}

/** Returns what is wrong with a token, which is never quoted; undefined if it may be used. */
export function tokenFault(token: string): string | undefined {
  if (token.startsWith("inf_")) return "holds an API key: make a token of its own, such as by openssl rand -base64 32";
  if (!/^[\x21-\x2b\x2d-\x7e]*$/.test(token)) return "must hold one word of visible ASCII characters, without a comma";
  if (token.length < MIN_LENGTH) {
    return `holds ${token.length} characters: at least ${MIN_LENGTH} random ones are needed (openssl rand -base64 32)`;
  }
  return isRandom(token) ? undefined : "holds no random token: make one, such as by openssl rand -base64 32";
}

/** Refuses what a person types: few different characters, a word again and again, a row of the alphabet. */
function isRandom(token: string): boolean {
  const codes = Array.from(token, (character) => character.charCodeAt(0));
  const inRow = codes.filter((code, i) => i > 0 && Math.abs(code - (codes[i - 1] ?? 0)) <= 1).length;
  const repeats = codes.some((_, i) => i > 0 && i <= token.length / 2 && token.startsWith(token.slice(i)));
  return new Set(codes).size >= MIN_DISTINCT && inRow < MAX_IN_ROW * token.length && !repeats;
}
