import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { principalOf } from "../../server/auth/management/author.ts";
import { refName } from "../../server/console/keys/key-words.ts";
import { seeObject } from "../../server/console/seen-object.ts";
import { offeredTeams } from "../../server/console/team-field.ts";
import { callerSignal } from "../../server/http/caller-signal.ts";
import { problem } from "../../server/http/problems/problem.ts";
import type { Management } from "../../server/management/context.ts";
import { pageOf } from "../../server/management/paging.ts";
import { requestedTeams } from "../../server/management/requested-teams.ts";
import { rightsOf } from "../../server/management/rights.ts";
import { sendConsolePage } from "../../server/pages/send-page.ts";
import type { Db } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";
import { clusterNames } from "../../store/objects/cluster-names.ts";
import { readConditions } from "../../store/objects/object-conditions.ts";
import { listObjects } from "../../store/objects/objects.ts";
import { findExtractionState } from "../store/extraction/extraction-state.ts";
import { listAtoms } from "../store/lists/atom-list.ts";
import { listRevisions } from "../store/lists/atom-revisions.ts";
import { countAtoms } from "../store/lists/library-summary.ts";
import { positionOf } from "../store/rows/atom-order.ts";
import { atomsById, findAtoms } from "../store/rows/atoms.ts";
import { findReplacements } from "../store/rows/replaced-atoms.ts";
import { searchAtoms } from "../store/search/atom-search.ts";
import { spaced } from "../store/search/words/search-words.ts";
import { MAX_SNIPPET_SOURCE } from "../store/search/words/snippet.ts";
import { atomContent } from "./atom-page.ts";
import { librariesContent, type StoredLibrary } from "./libraries-page.ts";
import { EXCERPT, type ListedAtom, libraryContent } from "./library-page.ts";
import { type AtomsQuery, readAtomsQuery, readLibrariesQuery } from "./library-query.ts";

type LibraryPageQuery = Readonly<Record<string, unknown>>;

const PAGE = 50;
const ATOMS = 30;
const FOUND = 100;
const REVISIONS = 10;

/** Adds the pages of libraries and their atoms, for reading, for all people who have a role in the team. */
export function libraryRoutes(app: FastifyInstance, management: Management): void {
  addLibraries(app, management);
  addLibrary(app, management);
  addAtom(app, management);
}

function addLibraries(app: FastifyInstance, { store, clock }: Management): void {
  app.get<{ Querystring: LibraryPageQuery }>("/libraries", { config: { console: true } }, async (request, reply) => {
    const query = readLibrariesQuery(request.query);
    const rights = await rightsOf(store.db, principalOf(request));
    const teamIds = await requestedTeams(store.db, rights, query.team);
    const found = await listObjects(store.db, "library", { teamIds, afterId: query.afterId, limit: PAGE + 1 });
    const { items: shown, nextCursor: nextId } = pageOf(found, PAGE);
    const list = {
      ...{ query, nextId },
      clusters: await clusterNames(store.db),
      libraries: shown.toSorted((a, b) => (refName(a) < refName(b) ? -1 : 1)),
      defaults: await defaultsAmong(store.db, shown),
      conditions: await readConditions(
        store.db,
        "library",
        shown.map(({ id }) => id),
      ),
      teams: await offeredTeams(store.db, rights),
      now: clock.now(),
    };
    return sendConsolePage(request, reply, {
      title: "Libraries",
      section: "libraries",
      content: librariesContent(list),
    });
  });
}

function addLibrary(app: FastifyInstance, { store, clock }: Management): void {
  app.get<{ Params: { id: string }; Querystring: LibraryPageQuery }>(
    "/libraries/:id",
    { config: { console: true } },
    async (request, reply) => {
      const query = readAtomsQuery(request.query);
      const page = await inTeamSlot(store, request, reply, async (db, library) => {
        const reach = { teamId: library.teamId, libraryIds: [library.id] };
        const count = await countAtoms(db, reach, library.id);
        const extraction = await findExtractionState(db, library.id);
        return { library, count, extraction, ...(await atomsOf(db, library, query)) };
      });
      const { library } = page;
      const isDefault = (await defaultsAmong(store.db, [library])).size > 0;
      const content = libraryContent({
        ...page,
        ...{ isDefault, query, now: clock.now() },
        clusters: await clusterNames(store.db),
        conditions: (await readConditions(store.db, "library", [library.id])).get(library.id),
      });
      return sendConsolePage(request, reply, { title: refName(library), section: "libraries", content });
    },
  );
}

function addAtom(app: FastifyInstance, { store, clock }: Management): void {
  app.get<{ Params: { id: string; atomId: string }; Querystring: LibraryPageQuery }>(
    "/libraries/:id/atoms/:atomId",
    { config: { console: true } },
    async (request, reply) => {
      const { atomId } = request.params;
      const before = readRevision(request.query.before);
      const page = await inTeamSlot(store, request, reply, async (db, library) => {
        const reach = { teamId: library.teamId, libraryIds: [library.id] };
        // The viewer may read what it links to in the team's other libraries.
        const reachOfTeam = { teamId: library.teamId, libraryIds: null };
        const [atom] = await findAtoms(db, reachOfTeam, [atomId]);
        if (atom?.library.id !== library.id) {
          throw problem("not_found", "There is no atom of this id in this library.");
        }
        const linked = await atomsById(
          db,
          reachOfTeam,
          atom.links.map(({ id }) => id),
        );
        const from = Math.min(before ?? atom.revision, atom.revision);
        const revisions = await listRevisions(db, reach, atomId, { before: from, limit: REVISIONS });
        const { items: earlier, isMore } = revisions ?? { items: [], isMore: false };
        const replacedBy = (await findReplacements(db, reach, [atomId])).get(atomId);
        const moreBefore = isMore ? (earlier.at(-1)?.revision ?? null) : null;
        return { library, atom, linked, replacedBy, earlier, moreBefore };
      });
      return sendConsolePage(request, reply, {
        title: "Atom",
        section: "libraries",
        content: atomContent({ ...page, now: clock.now() }),
      });
    },
  );
}

/**
 * Runs a task on the memory in the team's slot, as calls of keys do. The person's rights are checked again in the slot.
 *
 * @throws Problem `not_found` for a library that is not there, or that is another team's
 */
async function inTeamSlot<T>(
  store: Store,
  request: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply,
  task: (db: Db, library: StoredLibrary) => Promise<T>,
): Promise<T> {
  const see = async (db: Db) => seeObject(db, "library", await rightsOf(db, principalOf(request)), request.params.id);
  const { teamId } = await see(store.db);
  return store.memory.run({ teamId, signal: callerSignal(reply) }, async (db) => task(db, await see(db)));
}

async function atomsOf(
  db: Db,
  { id: libraryId, teamId }: StoredLibrary,
  { text, tag, after }: AtomsQuery,
): Promise<{ atoms: readonly ListedAtom[]; next: AtomsQuery["after"] }> {
  const reach = { teamId, libraryIds: [libraryId] };
  const page = { libraryId, tags: tag === "" ? undefined : [tag], after };
  if (text !== "") {
    const asked = { ...page, query: spaced(text), limit: FOUND, characters: MAX_SNIPPET_SOURCE };
    const { items: atoms, isMore } = await searchAtoms(db, reach, asked);
    const last = isMore ? atoms.at(-1) : undefined;
    return { atoms, next: last === undefined ? null : { at: last.position, id: last.atom.id } };
  }
  const { items, isMore } = await listAtoms(db, reach, { ...page, limit: ATOMS, characters: EXCERPT + 1 });
  const last = isMore ? items.at(-1) : undefined;
  const replacements = await findReplacements(
    db,
    reach,
    items.map(({ id }) => id),
  );
  const atoms = items.map((atom) => ({ atom, replacedBy: replacements.get(atom.id) }));
  return { atoms, next: last === undefined ? null : positionOf("newest", last) };
}

/** Returns the ids of those libraries that are their team's default. */
async function defaultsAmong(db: Db, libraries: readonly StoredLibrary[]): Promise<ReadonlySet<string>> {
  const teamIds = [...new Set(libraries.map(({ teamId }) => teamId))];
  const teams = await listObjects(db, "team", { teamIds, limit: teamIds.length });
  const defaults = new Map(teams.map(({ id, defaultLibrary }) => [id, defaultLibrary]));
  const chosen = libraries.filter(({ teamId, namespace, name }) => {
    const ref = defaults.get(teamId);
    return ref?.namespace === namespace && ref.name === name;
  });
  return new Set(chosen.map(({ id }) => id));
}

/** @throws Problem `invalid_request` for a text that is no revision */
function readRevision(text: unknown): number | undefined {
  if (text === undefined) return undefined;
  if (typeof text === "string" && /^\d{1,9}$/.test(text)) return Number(text);
  throw problem("invalid_request", "This address of a page of revisions is broken: begin at the atom's page.");
}
