import { Readable } from "node:stream";
import type { FastifyRequest } from "fastify";
import { principalNow } from "../auth/management/principal-now.ts";
import { problem } from "../http/problems/problem.ts";
import { requestedTeams } from "../management/requested-teams.ts";
import { rightsOf } from "../management/rights.ts";
import type { ServerDeps } from "../product/deps.ts";

/** The exports of a thread at a time, each for another actor, and of those of a team: a slow reader keeps one for long. */
const MAX_EXPORTS = 16;
const MAX_OF_TEAM = 2;
/** A client that takes nothing for so long is cut off. */
const STALL_MS = 30_000;

/** A file of what a search finds, however many pages that has. */
export type SearchExport = {
  /** The caller, as the audit log names them. */
  readonly actor: string;
  /** One of the caller's, or what stands in its place. */
  readonly teamId: string;
  /** Read as the client takes it, and no further once it has left: empty ones, too, where nothing is found for long. */
  readonly pieces: AsyncIterable<string>;
};

/** Begins to write a file. */
export type StartExport = (task: SearchExport) => Readable;

/** Writes files, a few at a time. */
export function createExports(): StartExport {
  /** The teams, by the actors. */
  const underWay = new Map<string, string>();
  return (task) => {
    // A slow client keeps its place for long: each actor has one place.
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
 * @param teamIds whose the first piece was
 * @throws Error where they may not read the same any more
 */
export async function checkSameTeams(
  deps: ServerDeps,
  request: FastifyRequest,
  named: string,
  teamIds: readonly string[] | undefined,
): Promise<void> {
  const { db } = deps.store;
  const now = await requestedTeams(db, await rightsOf(db, await principalNow(deps, request)), named);
  if (String(now) !== String(teamIds)) throw new Error("what they may read has changed");
}

/** Passes on what comes, and calls `onStall` where the client does not take it. */
async function* withoutStall<T>(all: AsyncIterable<T>, onStall: () => void): AsyncGenerator<T> {
  for await (const one of all) {
    const impatience = setTimeout(onStall, STALL_MS).unref();
    try {
      yield one;
    } finally {
      clearTimeout(impatience);
    }
  }
}
