import type { FastifyInstance } from "fastify";
import { change, commitChange, seqIfKnown } from "../../../store/database/change.ts";
import { spendCreations } from "../../../store/idempotency.ts";
import { listObjects, type ObjectKind } from "../../../store/objects/objects.ts";
import { principalOf } from "../../auth/management/author.ts";
import { changeContextOf } from "../change-context.ts";
import type { Management } from "../context.ts";
import { createOnce, creationOf, markCreated } from "../creation.ts";
import { managedRoute } from "../managed-route.ts";
import { bodyMayBeMissing, pageOf, readCursor } from "../paging.ts";
import { checkIfMatch, requireIfMatch, withEtag } from "../preconditions.ts";
import {
  OBJECTS_QUERY,
  type ObjectsQuery,
  REASON_BODY,
  REASON_EXAMPLE,
  type ReasonBody,
  type ReplaceBody,
  replaceBody,
} from "../request-schemas.ts";
import { objectSchema, pageSchema, RECEIPT } from "../response-schemas.ts";
import { rightsOf, visibleTeams } from "../rights.ts";
import { lockChangeable, type ManagedResource, objectJson, showObject } from "./resource.ts";

type IdParams = { id: string };
type Schema = ReturnType<typeof objectSchema>;

/**
 * Serves one kind of object: all for reading, those made by hand for changing and deleting
 * (docs/reference/management-api.md).
 */
export function objectRoutes<K extends ObjectKind, CreateBody extends ReasonBody>(
  app: FastifyInstance,
  management: Management,
  resource: ManagedResource<K, CreateBody>,
): void {
  const schema = objectSchema(resource.title, resource.declaredAs, resource.specSchema, resource.shown);
  readRoutes(app, management, resource, schema);
  changeRoutes(app, management, resource, schema);
}

function readRoutes<K extends ObjectKind, CreateBody extends ReasonBody>(
  app: FastifyInstance,
  { store }: Management,
  resource: ManagedResource<K, CreateBody>,
  schema: Schema,
): void {
  const { kind, path } = resource;

  app.get<{ Querystring: ObjectsQuery }>(
    `/${path}`,
    {
      config: managedRoute({ summary: `List ${path}`, response: pageSchema(schema) }),
      schema: { querystring: OBJECTS_QUERY },
    },
    async (request) => {
      const { limit, cursor, ...filter } = request.query;
      const teamIds = visibleTeams(await rightsOf(store.db, principalOf(request)));
      const page = { teamIds, limit: limit + 1, afterId: readCursor(cursor) };
      const found = await listObjects(store.db, kind, { ...filter, ...page });
      return pageOf(
        found.map((stored) => objectJson(resource, stored)),
        limit,
      );
    },
  );

  app.get<{ Params: IdParams }>(
    `/${path}/:id`,
    { config: managedRoute({ summary: `Read a ${kind}`, response: schema, etag: true }) },
    async (request, reply) => {
      const rights = await rightsOf(store.db, principalOf(request));
      return withEtag(reply, await showObject(store.db, resource, rights, request.params.id));
    },
  );
}

function changeRoutes<K extends ObjectKind, CreateBody extends ReasonBody>(
  app: FastifyInstance,
  management: Management,
  resource: ManagedResource<K, CreateBody>,
  schema: Schema,
): void {
  const { store, receipts } = management;
  const { kind, path } = resource;

  app.post<{ Body: CreateBody }>(
    `/${path}`,
    {
      config: managedRoute({
        summary: `Make a ${kind}`,
        status: 201,
        response: schema,
        example: resource.example,
        refusals: ["exists", "invalid", "not_found"],
        idempotent: true,
      }),
      schema: { body: resource.createSchema },
    },
    async (request, reply) => {
      // The schema has checked the body, which gets its type here.
      const body = request.body as CreateBody;
      const context = await changeContextOf(management, request, body);
      const made = await createOnce(
        management,
        creationOf(request),
        (tx) => resource.create(tx, context, body),
        (tx, id) => showObject(tx, resource, context.rights, id),
      );
      markCreated(reply, path, made);
      return withEtag(reply, { ...made.shown, change: made.change });
    },
  );

  app.put<{ Params: IdParams; Body: ReplaceBody }>(
    `/${path}/:id`,
    {
      config: managedRoute({
        summary: `Change what a ${kind} that was made here is to be, the whole of it`,
        response: schema,
        example: { spec: resource.example.spec },
        refusals: ["managed", "invalid"],
        ifMatch: "required",
      }),
      schema: { body: replaceBody(resource.specSchema) },
    },
    async (request, reply) => {
      const context = await changeContextOf(management, request, request.body);
      const ifMatch = requireIfMatch(request.headers["if-match"]);
      const { id } = request.params;
      const { result: shown, seq } = await change(store, null, async (tx) => {
        const stored = await lockChangeable(tx, resource, context, id);
        checkIfMatch(ifMatch, objectJson(resource, stored));
        await resource.replace(tx, context, stored, request.body.spec);
        // While the answer waits for its receipt, another client may store something else (threats b478).
        return showObject(tx, resource, context.rights, id);
      });
      return withEtag(reply, { ...shown, change: await receipts.wait(seq) });
    },
  );

  app.delete<{ Params: IdParams; Body: ReasonBody }>(
    `/${path}/:id`,
    {
      config: managedRoute({
        summary: `Delete a ${kind} that was made here`,
        response: RECEIPT,
        example: REASON_EXAMPLE,
        refusals: ["managed"],
        ifMatch: "optional",
      }),
      preValidation: bodyMayBeMissing,
      schema: { body: REASON_BODY },
    },
    async (request) => {
      const context = await changeContextOf(management, request, request.body);
      const { askSeq } = await commitChange(store, null, async (tx) => {
        const stored = await lockChangeable(tx, resource, context, request.params.id);
        checkIfMatch(request.headers["if-match"], objectJson(resource, stored));
        await resource.remove(tx, context, stored);
        await spendCreations(tx, stored.id);
      });
      return receipts.wait(await seqIfKnown(askSeq));
    },
  );
}
