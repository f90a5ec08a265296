import { Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import { principalNow } from "../auth/management/principal-now.ts";
import { problem } from "../http/problems/problem.ts";
import { requestedTeams } from "../management/requested-teams.ts";
import { rightsOf } from "../management/rights.ts";
import type { ServerDeps } from "../product/deps.ts";

/**
 * Limits on the exports of a thread at a time, all in all and for each team. Each actor has one: a slow reader keeps
 * one for long.
 */
const MAX_EXPORTS = 16;
const MAX_OF_TEAM = 2;
/** Milliseconds after which a client that takes nothing is cut off. */
const STALL_MS = 30_000;
/** Bytes that are handed to a client at a time. */
const PART = 64 << 10;

/** Export of all pages of a search as one file. */
export type SearchExport = {
  /** Caller, as the audit log names them. */
  readonly actor: string;
  /** Id of a team of the caller, or the stand-in that `managedBodyHolder` gives. */
  readonly teamId: string;
  /**
   * Content, read only as the client takes it, and no further once the client has left. Pieces may be empty while
   * nothing is found.
   */
  readonly pieces: AsyncIterable<string>;
};

/**
 * Begins to write a file. @throws Problem if the actor, the team or the thread has as many exports under way as it may
 */
export type StartExport = (task: SearchExport) => Readable;

/** Returns a function that starts exports, and limits how many are under way. */
export function createExports(): StartExport {
  /** Teams of the exports under way, by their actors. */
  const underWay = new Map<string, string>();
  return (task) => {
    // A slow client keeps its slot for long: each actor has one slot.
    if (underWay.has(task.actor)) {
      throw problem("unavailable", "Another of your exports is under way here: try again when it is done.");
    }
    const ofTeam = [...underWay.values()].filter((teamId) => teamId === task.teamId).length;
    if (ofTeam >= MAX_OF_TEAM) {
      throw problem(
        "unavailable",
        "Your team has as many exports under way here as it may: try again when they are done.",
      );
    }
    if (underWay.size >= MAX_EXPORTS) {
      throw problem("unavailable", "Other exports are under way here: try again when they are done.");
    }
    underWay.set(task.actor, task.teamId);
    const file = Readable.from(
      withoutStall(task.pieces, () => file.destroy()),
      { objectMode: false },
    );
    file.once("close", () => underWay.delete(task.actor));
    return file;
  };
}

/**
 * Checks the caller's session and roles again, between two pieces of a file.
 *
 * @param named the team that was asked for, empty for all
 * @param teamIds teams that the first piece was read from
 * @throws Error if the caller may no longer read one of them
 */
export async function checkSameTeams(
  deps: ServerDeps,
  request: FastifyRequest,
  named: string,
  teamIds: readonly string[] | undefined,
): Promise<void> {
  const { db } = deps.store;
  const now = await requestedTeams(db, await rightsOf(db, await principalNow(deps, request)), named);
  const mayRead = now === undefined || teamIds?.every((id) => now.includes(id));
  if (mayRead !== true) throw new Error("they may no longer read what they asked for");
}

/**
 * Passes on each piece in parts, and calls `onStall` if the client does not take one within `STALL_MS`: a slow client
 * needs longer for a whole piece, of which events may make megabytes (threats b480). An empty piece is one empty part.
 */
async function* withoutStall(pieces: AsyncIterable<string>, onStall: () => void): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece);
    let passed = 0;
    do {
      const impatience = setTimeout(onStall, STALL_MS).unref();
      try {
        yield bytes.subarray(passed, passed + PART);
      } finally {
        clearTimeout(impatience);
      }
      passed += PART;
    } while (passed < bytes.length);
  }
}
