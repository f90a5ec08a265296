import { createReadStream } from "node:fs";
import { errorMessage } from "../../domain/error-text.ts";
import { redactKeys } from "../../domain/redact.ts";
import { STDIN } from "../command/command.ts";
import { filesBelow } from "./files-below.ts";
import { type FoundKey, scanForKeys } from "./key-finder.ts";

const CHUNK_BYTES = 1 << 20;

/** A place where a key is; or a file that was looked into to its end, or that could not be. */
export type ScanResult =
  | ({ readonly path: string } & FoundKey)
  | { readonly path: string; readonly done: true }
  | { readonly path: string; readonly why: string };

/** Looks into all that paths name. Paths and errors are reported without what a terminal obeys or what may be a key. */
export async function* lookInto(paths: readonly string[]): AsyncGenerator<ScanResult> {
  for (const named of paths) {
    if (named === STDIN) {
      yield* lookThrough(STDIN, process.stdin);
      continue;
    }
    for await (const { path, why } of filesBelow([named])) {
      const name = shown(path.toString());
      if (why === undefined) yield* lookThrough(name, createReadStream(path, { highWaterMark: CHUNK_BYTES }));
      else yield { path: name, why: shown(why) };
    }
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
