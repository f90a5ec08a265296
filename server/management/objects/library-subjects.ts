import type { FastifyInstance } from "fastify";
import { SUBJECT_FORM } from "../../../domain/access/subject.ts";
import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import { change, type Db } from "../../../store/database/change.ts";
import { isId } from "../../../store/database/ids.ts";
import { eraseSubject, listRetainedLibraries, listSubjects } from "../../../store/libraries/subjects.ts";
import { listObjects, type StoredOf } from "../../../store/objects/objects.ts";
import { principalOf } from "../../auth/management/author.ts";
import { problem } from "../../http/problems/problem.ts";
import { changeContextOf } from "../change-context.ts";
import type { Management } from "../context.ts";
import { managedRoute } from "../managed-route.ts";
import { pageOf, readCursor } from "../paging.ts";
import { OBJECTS_QUERY, type ObjectsQuery, PAGE, type PageQuery, REASON, type ReasonBody } from "../request-schemas.ts";
import { closedObject, pageSchema, TEXT, TIMESTAMP } from "../response-schemas.ts";
import { type Rights, requireRight, requireRightStill, rightsOf, visibleTeams } from "../rights.ts";

type ById = { id: string };

/**
 * States of a library that keeps memory of subjects: also after its declaration is gone, since an erasure does not wait
 * for it.
 */
const KEEPING = ["active", "retained"] as const;

const RETAINED_LIBRARY = closedObject("RetainedLibrary", {
  ...{ id: TEXT, name: TEXT, namespace: TEXT, team: TEXT, teamId: TEXT },
  createdAt: TIMESTAMP,
});

const SUBJECT = closedObject("LibrarySubject", {
  id: { ...TEXT, description: "Of its part of the library; another one once it was erased." },
  subject: { ...TEXT, description: "As X-Keyplane-Subject and subjectAccess name it." },
  since: { ...TIMESTAMP, description: "When something was first saved for it." },
});
const ERASED = closedObject("ErasedSubject", {
  erased: { type: "boolean", description: "False where the library had nothing of the subject." },
});

const ERASE_BODY = {
  type: "object",
  additionalProperties: false,
  required: ["subject"],
  properties: { subject: SUBJECT_FORM, reason: REASON },
} as const;

/**
 * Serves the subjects of a library, for its team's admins. Their names may be personal data, and are in bodies and the
 * audit log alone (docs/decisions/subjects.md).
 */
export function librarySubjectRoutes(app: FastifyInstance, management: Management): void {
  const { store } = management;

  app.get<{ Querystring: ObjectsQuery }>(
    "/retained-libraries",
    {
      config: managedRoute({
        summary: "List libraries whose declaration is gone and whose atoms are kept",
        response: pageSchema(RETAINED_LIBRARY),
      }),
      schema: { querystring: OBJECTS_QUERY },
    },
    async (request) => {
      const { limit, cursor, ...filter } = request.query;
      const teamIds = visibleTeams(await rightsOf(store.db, principalOf(request)));
      const page = { teamIds, limit: limit + 1, afterId: readCursor(cursor) };
      const found = await listRetainedLibraries(store.db, { ...filter, ...page });
      return pageOf(
        found.map(({ id, name, namespace, team, teamId, createdAt }) => {
          return { id, name, namespace, team, teamId, createdAt: rfc3339Millis(createdAt.getTime()) };
        }),
        limit,
      );
    },
  );

  app.get<{ Params: ById; Querystring: PageQuery }>(
    "/libraries/:id/subjects",
    {
      config: managedRoute({
        summary: "List the subjects that have atoms in a library",
        response: pageSchema(SUBJECT),
      }),
      schema: { querystring: { type: "object", additionalProperties: false, properties: PAGE } },
    },
    async (request) => {
      const rights = await rightsOf(store.db, principalOf(request));
      const library = await libraryToChange(store.db, rights, request.params.id);
      const { limit, cursor } = request.query;
      const found = await listSubjects(store.db, library.id, { afterId: readCursor(cursor), limit: limit + 1 });
      if (found === undefined) throw ERASED_MEANWHILE;
      return pageOf(
        found.map(({ since, ...subject }) => ({ ...subject, since: rfc3339Millis(since) })),
        limit,
      );
    },
  );

  app.post<{ Params: ById; Body: ReasonBody & { subject: string } }>(
    "/libraries/:id/erased-subjects",
    {
      config: managedRoute({
        summary: "Erase all that a library has of a subject, for ever and at once",
        response: ERASED,
        example: { subject: "user-4711", reason: "they asked for it" },
      }),
      schema: { body: ERASE_BODY },
    },
    async (request) => {
      const { rights, principal, author: by } = await changeContextOf(management, request, request.body);
      const { subject } = request.body;
      const { result: erased } = await change(store, null, async (tx) => {
        // Not locked: a request that hands over a conversation holds the subject's part while it waits for the library.
        const library = await libraryToChange(tx, rights, request.params.id);
        await requireRightStill(tx, principal, library.teamId, "change libraries");
        return eraseSubject(tx, { library, subject, by });
      });
      return { erased };
    },
  );
}

/**
 * Reads a library that the caller may change. @throws Problem `not_found`, or `forbidden` if the caller's roles do not
 * allow it
 */
async function libraryToChange(db: Db, rights: Rights, id: string): Promise<StoredOf["library"]> {
  const asked = { id, teamIds: visibleTeams(rights), states: KEEPING, limit: 1 };
  const [library] = isId(id) ? await listObjects(db, "library", asked) : [];
  if (library === undefined) throw NO_LIBRARY;
  requireRight(rights, library.teamId, "change libraries");
  return library;
}

const ERASED_MEANWHILE = problem(
  "not_found",
  "The subject that the page before ended with was erased meanwhile: begin without a cursor.",
);
const NO_LIBRARY = problem("not_found", "There is no library of this id.");
