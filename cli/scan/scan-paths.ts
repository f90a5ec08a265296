import { createReadStream } from "node:fs";
import { errorMessage } from "../../domain/error-text.ts";
import { redactKeys } from "../../domain/redact.ts";
import { STDIN } from "../command/command.ts";
import { filesBelow } from "./files-below.ts";
import { type FoundKey, REACH, scanForKeys } from "./key-finder.ts";

const CHUNK_BYTES = 1 << 20;
/**
 * Largest number of bytes read of one file, since a sparse file may have no end worth waiting for. Standard input is
 * read to its end.
 */
const FILE_BYTES = 10 * 2 ** 30;

/** Location of a key; or a file that was searched to its end, or could not be. */
export type ScanResult =
  | ({ readonly path: string } & FoundKey)
  | { readonly path: string; readonly done: true }
  | { readonly path: string; readonly why: string };

/**
 * Searches everything that paths name. Paths and errors are reported without terminal control characters and without
 * anything that may be a key.
 *
 * @param most largest number of bytes per file. A larger file is reported as such, after the keys in its beginning
 */
export async function* lookInto(paths: readonly string[], most = FILE_BYTES): AsyncGenerator<ScanResult> {
  for (const named of paths) {
    if (named === STDIN) {
      yield* lookThrough(STDIN, process.stdin);
      continue;
    }
    for await (const { path, why } of filesBelow([named])) {
      const name = shown(path.toString());
      if (why === undefined) yield* lookThrough(name, beginningOf(path, most));
      else yield { path: name, why: shown(why) };
    }
  }
}

/**
 * Reads the beginning of a file.
 *
 * @throws Error at its end if the file has more
 */
async function* beginningOf(path: Buffer, most: number): AsyncGenerator<Buffer> {
  let left = most;
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES, end: most })) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
  }
  if (left < 0) {
    // A key that begins before the bound may end behind it.
    const rest = `tail -c +${Math.max(1, most + 1 - REACH)} FILE | keyplane scan -`;
    throw new Error(`it has more than ${most} bytes, which were looked into: look into the rest by "${rest}"`);
  }
}

async function* lookThrough(path: string, chunks: AsyncIterable<Buffer>): AsyncGenerator<ScanResult> {
  try {
    for await (const found of scanForKeys(chunks)) yield { path, ...found };
    yield { path, done: true };
  } catch (error) {
    yield { path, why: shown(errorMessage(error)) };
  }
}

function shown(text: string): string {
  return redactKeys(text.replace(/\p{C}/gu, "?"));
}
