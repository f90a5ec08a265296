import { Readable } from "node:stream";
import type { FastifyInstance } from "fastify";
import { type MemoryCaller, memoryCaller } from "../../server/libraries/call-memory.ts";
import { ownReach } from "../../server/libraries/reach-of-call.ts";
import type { ServerDeps } from "../../server/product/deps.ts";
import type { ListPage } from "../../store/libraries/page.ts";
import { findLibraryById, type ReachableLibrary } from "../../store/libraries/reachable-libraries.ts";
import { requireLibrary } from "../call/problems.ts";
import { atomLine } from "../shown/atom-json.ts";
import { ATOM_LINES } from "../shown/response-schemas.ts";
import { listAtoms } from "../store/lists/atom-list.ts";
import type { Atom, AtomPosition } from "../store/rows/atom.ts";
import { EXPORT_QUERY, type ExportQuery } from "./request-schemas.ts";

/** Atoms that are read for a piece of an export, up to the bytes of a page: all that a server holds at a time. */
const PIECE = 20;

/** Adds the export of a library as JSON Lines, in as many calls of the memory as it has pieces. */
export function memoryExportRoutes(app: FastifyInstance, deps: ServerDeps): void {
  app.get<{ Querystring: ExportQuery }>(
    "/atoms/export",
    {
      config: {
        operation: "atoms.export",
        docs: {
          summary: "Export a library as JSON Lines, the newest atom first",
          response: ATOM_LINES,
          mediaType: "application/x-ndjson",
          refusals: ["not_found"],
        },
      },
      schema: { querystring: EXPORT_QUERY },
    },
    async (request, reply) => {
      const call = memoryCaller(deps, request, reply);
      const { own = false } = request.query;
      const library = await call((db, user, reach) => {
        if (own) ownReach(reach);
        return requireLibrary(db, user, request.query.library);
      });
      const stream = Readable.from(linesOf(call, library, own));
      stream.once("error", (error) => deps.log.warn({ error }, "an export of a library was aborted"));
      return reply.type("application/x-ndjson; charset=utf-8").send(stream);
    },
  );
}

async function* linesOf(call: MemoryCaller, library: ReachableLibrary, own: boolean): AsyncGenerator<string> {
  let after: AtomPosition | null = null;
  do {
    const { items, isMore }: ListPage<Atom> = await readPiece(call, library, own, after);
    for (const atom of items) yield `${JSON.stringify(atomLine(atom))}\n`;
    const last = isMore ? items.at(-1) : undefined;
    after = last === undefined ? null : { at: last.createdAt, id: last.id };
  } while (after !== null);
}

/**
 * Reads a piece of an export. Throws if the key or the library has ended since the piece before: what came so far must
 * not look whole.
 */
function readPiece(
  call: MemoryCaller,
  { id, incarnation }: ReachableLibrary,
  own: boolean,
  after: AtomPosition | null,
) {
  return call(async (db, _user, whole) => {
    const reach = own ? ownReach(whole) : whole;
    const piece = await listAtoms(db, reach, { libraryId: id, after, limit: PIECE });
    // Read after the atoms: a library that is deleted in between has no atoms, like a library at its end.
    const library = await findLibraryById(db, reach, id);
    if (library?.incarnation !== incarnation) throw new Error("the library is not there any more");
    return piece;
  });
}
