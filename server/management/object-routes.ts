import type { FastifyInstance, FastifyRequest } from "fastify";
import { API_CLUSTER } from "../../domain/api-cluster.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import type { Author } from "../../store/audit.ts";
import { change, commitChange, type Db, seqIfKnown, type Tx } from "../../store/database/change.ts";
import { isId } from "../../store/database/ids.ts";
import { listObjects, lockObject, type ObjectKind, type StoredOf } from "../../store/objects.ts";
import { problem } from "../http/errors.ts";
import type { RouteDocs } from "../http/openapi.ts";
import { authorOf, principalOf } from "./author.ts";
import type { Management } from "./context.ts";
import { createOnce } from "./creation.ts";
import { bodyMayBeMissing, pageOf, readCursor } from "./paging.ts";
import { checkIfMatch, requireIfMatch, type UNSEEN, withEtag } from "./preconditions.ts";
import {
  OBJECTS_QUERY,
  type ObjectsQuery,
  REASON_BODY,
  type ReasonBody,
  type ReplaceBody,
  replaceBody,
} from "./request-schemas.ts";
import { objectSchema, pageSchema, RECEIPT } from "./response-schemas.ts";
import { type Action, type Rights, requireRight, rightsOf, sees, visibleTeams } from "./rights.ts";

/** What a change is made with. */
export type ChangeContext = Pick<Management, "keyring"> & { readonly author: Author; readonly rights: Rights };

/** A kind of object, and what is its own in the routes that all kinds have alike. */
export type Resource<K extends ObjectKind, CreateBody extends ReasonBody> = {
  readonly kind: K;
  readonly path: "teams" | "libraries" | "gateways";
  /** As manifests have it. */
  readonly declaredAs: "PlatformTeam" | "MemoryLibrary" | "ModelGateway";
  readonly action: Action;
  /** In the description of the API. */
  readonly title: string;
  /** The schemas of what is shown besides what every object has. */
  readonly shown: Readonly<Record<string, object>>;
  readonly specSchema: object;
  readonly createSchema: object;
  /** What is shown besides what every object has. */
  show(stored: StoredOf[K]): { readonly spec: object; readonly [UNSEEN]?: string } & Readonly<Record<string, unknown>>;
  create(tx: Tx, context: ChangeContext, body: CreateBody): Promise<{ id: string }>;
  replace(tx: Tx, context: ChangeContext, stored: StoredOf[K], spec: unknown): Promise<void>;
  /** Checks the right to, where it is another one than to change. */
  remove(tx: Tx, context: ChangeContext, stored: StoredOf[K]): Promise<void>;
};

type ById = { id: string };

/** Serves one kind of object: to look at, and what was made here to change and to delete (docs/api.md). */
export function objectRoutes<K extends ObjectKind, CreateBody extends ReasonBody>(
  app: FastifyInstance,
  management: Management,
  resource: Resource<K, CreateBody>,
): void {
  const { store, keyring, receipts } = management;
  const { kind, path } = resource;
  const documented = (docs: RouteDocs) => ({ management: true, docs }) as const;
  const schema = objectSchema(resource.title, resource.declaredAs, resource.specSchema, resource.shown);
  const absent = problem("not_found", `There is no ${kind} of this id.`);

  app.get<{ Querystring: ObjectsQuery }>(
    `/${path}`,
    {
      config: documented({ summary: `List ${path}`, response: pageSchema(schema) }),
      schema: { querystring: OBJECTS_QUERY },
    },
    async (request) => {
      const { limit, cursor, ...filter } = request.query;
      const teamIds = visibleTeams(await rightsOf(store.db, principalOf(request)));
      const found = await listObjects(store.db, kind, {
        ...filter,
        teamIds,
        limit: limit + 1,
        afterId: readCursor(cursor),
      });
      return pageOf(found.map(json), limit);
    },
  );

  app.get<{ Params: ById }>(
    `/${path}/:id`,
    { config: documented({ summary: `Read a ${kind}`, response: schema }) },
    async (request, reply) => {
      const rights = await rightsOf(store.db, principalOf(request));
      return withEtag(reply, await showOne(store.db, rights, request.params.id));
    },
  );

  app.post<{ Body: CreateBody }>(
    `/${path}`,
    {
      config: documented({ summary: `Make a ${kind}`, status: 201, response: schema, idempotent: true }),
      schema: { body: resource.createSchema },
    },
    async (request, reply) => {
      // What the schema has checked becomes its type here.
      const body = request.body as CreateBody;
      const context = await contextOf(request, body);
      const { id, shown, replayed, change } = await createOnce(
        management,
        request,
        (tx) => resource.create(tx, context, body),
        (tx, id) => showOne(tx, context.rights, id),
      );
      reply.code(201).header("location", `/api/v1/${path}/${id}`);
      if (replayed) reply.header("idempotency-replayed", "true");
      return withEtag(reply, { ...shown, change });
    },
  );

  app.put<{ Params: ById; Body: ReplaceBody }>(
    `/${path}/:id`,
    {
      config: documented({
        summary: `Change what a ${kind} that was made here is to be, the whole of it`,
        response: schema,
        ifMatch: "required",
      }),
      schema: { body: replaceBody(resource.specSchema) },
    },
    async (request, reply) => {
      const context = await contextOf(request, request.body);
      const ifMatch = requireIfMatch(request.headers["if-match"]);
      const { id } = request.params;
      const { seq } = await change(store, null, async (tx) => {
        const stored = await lockChangeable(tx, context.rights, id);
        checkIfMatch(ifMatch, json(stored));
        await resource.replace(tx, context, stored, request.body.spec);
      });
      const receipt = await receipts.wait(seq);
      return withEtag(reply, { ...(await showOne(store.db, context.rights, id)), change: receipt });
    },
  );

  app.delete<{ Params: ById; Body: ReasonBody }>(
    `/${path}/:id`,
    {
      config: documented({ summary: `Delete a ${kind} that was made here`, response: RECEIPT, ifMatch: "optional" }),
      preValidation: bodyMayBeMissing,
      schema: { body: REASON_BODY },
    },
    async (request) => {
      const context = await contextOf(request, request.body);
      const { askSeq } = await commitChange(store, null, async (tx) => {
        const stored = await lockChangeable(tx, context.rights, request.params.id);
        checkIfMatch(request.headers["if-match"], json(stored));
        await resource.remove(tx, context, stored);
      });
      return receipts.wait(await seqIfKnown(askSeq));
    },
  );

  async function showOne(db: Db, rights: Rights, id: string) {
    const [found] = await listObjects(db, kind, { id: knownId(id), teamIds: visibleTeams(rights), limit: 1 });
    if (found === undefined) throw absent;
    return json(found);
  }

  function json(stored: StoredOf[K]) {
    const { id, cluster, namespace, name, ownerUid, teamId, team, createdAt } = stored;
    const declaredIn = cluster === API_CLUSTER ? null : { cluster, kind: resource.declaredAs, uid: ownerUid };
    const home = kind === "team" ? {} : { namespace, team, teamId };
    return { id, name, ...home, createdAt: rfc3339Millis(createdAt.getTime()), declaredIn, ...resource.show(stored) };
  }

  async function contextOf(request: FastifyRequest, { reason }: ReasonBody): Promise<ChangeContext> {
    return { keyring, author: authorOf(request, reason), rights: await rightsOf(store.db, principalOf(request)) };
  }

  /** @throws Problem `not_found`, `forbidden`, or `managed` for what was not made here */
  async function lockChangeable(tx: Tx, rights: Rights, id: string): Promise<StoredOf[K]> {
    const stored = await lockObject(tx, kind, knownId(id));
    if (stored === undefined || !sees(rights, stored.teamId)) throw absent;
    requireRight(rights, stored.teamId, resource.action);
    if (stored.cluster === API_CLUSTER) return stored;
    const name = stored.namespace === "" ? stored.name : `${stored.namespace}/${stored.name}`;
    throw problem(
      "managed",
      `${resource.declaredAs} ${name} (uid ${stored.ownerUid}, cluster ${stored.cluster}) declares this: change it there.`,
    );
  }

  function knownId(id: string): string {
    if (!isId(id)) throw absent;
    return id;
  }
}
