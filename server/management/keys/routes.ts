import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Db, Tx } from "../../../store/database/change.ts";
import { type ListedKey, listKeys, withoutDigests } from "../../../store/keys/key-lists.ts";
import { findKey } from "../../../store/keys/keys.ts";
import { teamNames } from "../../../store/teams.ts";
import type { RouteDocs } from "../../http/openapi.ts";
import { authorOf, principalOf } from "../author.ts";
import type { Management } from "../context.ts";
import { createOnce } from "../creation.ts";
import { bodyMayBeMissing, pageOf, readCursor } from "../paging.ts";
import { checkIfMatch, requireIfMatch, withEtag } from "../preconditions.ts";
import { REASON_BODY, type ReasonBody, type ReplaceBody } from "../request-schemas.ts";
import { keySchema, pageSchema, RECEIPT } from "../response-schemas.ts";
import { type Rights, rightsOf, sees, visibleTeams } from "../rights.ts";
import { createKey, createVersion } from "./api-managed-keys.ts";
import {
  type KeyChangeContext,
  NO_KEY,
  replaceKeySpec,
  requireApiManaged,
  revokeByHand,
  rotateByHand,
} from "./changes.ts";
import { type KeyJson, keyJson } from "./key-json.ts";
import { specsOf } from "./key-spec.ts";
import type { Receipts } from "./receipt.ts";
import {
  CREATE_KEY_BODY,
  CREATE_VERSION_BODY,
  type CreateKeyBody,
  type CreateVersionBody,
  KEY_SPEC,
  LIST_QUERY,
  type ListQuery,
  REPLACE_KEY_BODY,
  ROTATE_BODY,
  type RotateBody,
} from "./request-schemas.ts";

/** What every id of a key looks like: nothing else is asked of the database. */
const KEY_ID = /^key_[a-z2-7]{1,32}$/;

const KEY = keySchema(KEY_SPEC);
const KEY_PAGE = pageSchema(KEY);

type ById = { id: string };
type ReceiptOf = Awaited<ReturnType<Receipts["read"]>>;

/**
 * Keys in the management API (spec §7, docs/decisions/management-api.md). A secret is in one answer alone: the one to the
 * request that had it minted. Digests are in none.
 */
export function keyRoutes(app: FastifyInstance, management: Management): void {
  const { store, clock, receipts } = management;
  const documented = (docs: RouteDocs) => ({ management: true, docs }) as const;

  app.get<{ Querystring: ListQuery }>(
    "/keys",
    {
      config: documented({ summary: "List keys, revoked ones too", response: KEY_PAGE }),
      schema: { querystring: LIST_QUERY },
    },
    async (request) => {
      const { limit, cursor, state, ...named } = request.query;
      const keys = await listKeys(store.db, {
        ...named,
        teamIds: visibleTeams(await rights(request)),
        state: state && { is: state, at: clock.now() },
        limit: limit + 1,
        afterId: readCursor(cursor),
      });
      return pageOf(await show(store.db, keys, await receipts.read()), limit);
    },
  );

  app.get<{ Params: ById }>(
    "/keys/:id",
    { config: documented({ summary: "Read a key", response: KEY }) },
    async (request, reply) => {
      return withEtag(
        reply,
        await showOne(store.db, await rights(request), knownId(request.params), await receipts.read()),
      );
    },
  );

  app.post<{ Body: CreateKeyBody }>(
    "/keys",
    {
      config: documented({ summary: "Make a key", status: 201, response: KEY, idempotent: true }),
      schema: { body: CREATE_KEY_BODY },
    },
    async (request, reply) => {
      const context = await contextOf(request);
      return answerMade(request, reply, context.rights, (tx) => createKey(tx, context, request.body));
    },
  );

  app.put<{ Params: ById; Body: ReplaceBody }>(
    "/keys/:id",
    {
      config: documented({
        summary: "Change what a key that was made here is to be, the whole of it",
        response: KEY,
        ifMatch: "required",
      }),
      schema: { body: REPLACE_KEY_BODY },
    },
    async (request, reply) => {
      const context = await contextOf(request);
      const id = knownId(request.params);
      const ifMatch = requireIfMatch(request.headers["if-match"]);
      const seq = await replaceKeySpec(context, id, request.body.spec, ifMatch);
      const change = await receipts.wait(seq);
      return withEtag(reply, { ...(await showOne(store.db, context.rights, id, await receipts.read())), change });
    },
  );

  app.delete<{ Params: ById; Body: ReasonBody }>(
    "/keys/:id",
    {
      config: documented({ summary: "End a key that was made here, for ever", response: RECEIPT, ifMatch: "optional" }),
      preValidation: bodyMayBeMissing,
      schema: { body: REASON_BODY },
    },
    async (request) => {
      const context = await contextOf(request);
      const seq = await revokeByHand(context, knownId(request.params), "Deleted", (key) => {
        requireApiManaged(key);
        checkIfMatch(request.headers["if-match"], key);
      });
      return receipts.wait(seq);
    },
  );

  app.post<{ Params: ById; Body: CreateVersionBody }>(
    "/keys/:id/versions",
    {
      config: documented({
        summary: "Make a new version of a key that was made here",
        status: 201,
        response: KEY,
        idempotent: true,
      }),
      preValidation: bodyMayBeMissing,
      schema: { body: CREATE_VERSION_BODY },
    },
    async (request, reply) => {
      const context = await contextOf(request);
      const id = knownId(request.params);
      return answerMade(request, reply, context.rights, (tx) => createVersion(tx, context, id, request.body));
    },
  );

  app.post<{ Params: ById; Body: ReasonBody }>(
    "/keys/:id/revoke",
    {
      config: documented({
        summary: "End a key and all its versions, for ever, wherever it is declared",
        response: RECEIPT,
      }),
      preValidation: bodyMayBeMissing,
      schema: { body: REASON_BODY },
    },
    async (request) => receipts.wait(await revokeByHand(await contextOf(request), knownId(request.params), "ByHand")),
  );

  app.post<{ Params: ById; Body: RotateBody }>(
    "/keys/:id/rotate",
    {
      config: documented({ summary: "Ask for a new version of a declared key", status: 202, response: RECEIPT }),
      preValidation: bodyMayBeMissing,
      schema: { body: ROTATE_BODY },
    },
    async (request, reply) => {
      const seq = await rotateByHand(await contextOf(request), knownId(request.params), request.body.revokeOld);
      return reply.code(202).send(await receipts.wait(seq));
    },
  );

  function rights(request: FastifyRequest): Promise<Rights> {
    return rightsOf(store.db, principalOf(request));
  }

  async function contextOf(request: FastifyRequest<{ Body: ReasonBody }>): Promise<KeyChangeContext> {
    return { store, author: authorOf(request, request.body.reason), rights: await rights(request) };
  }

  async function show(db: Db, keys: readonly ListedKey[], receiptOf: ReceiptOf): Promise<KeyJson[]> {
    const teams = await teamNames(db, [...new Set(keys.map(({ teamId }) => teamId))]);
    const specOf = await specsOf(db, keys);
    const now = clock.now();
    return keys.map((key) =>
      keyJson(key, teams.get(key.teamId) ?? key.teamId, specOf(key), receiptOf(key.revocation?.seq ?? null), now),
    );
  }

  /** @throws Problem `not_found`, for a key that is another team's too */
  async function showOne(db: Db, rights: Rights, id: string, receiptOf: ReceiptOf): Promise<KeyJson> {
    const key = await findKey(db, id);
    const known = key !== undefined && sees(rights, key.teamId) ? [withoutDigests(key)] : [];
    const [shown] = await show(db, known, receiptOf);
    if (shown === undefined) throw NO_KEY;
    return shown;
  }

  async function answerMade(
    request: FastifyRequest,
    reply: FastifyReply,
    rights: Rights,
    make: Parameters<typeof createOnce>[2],
  ): Promise<KeyJson> {
    // Before the transaction: on PGlite nobody else is answered within it.
    const receiptOf = await receipts.read();
    const showMade = (tx: Tx, id: string) => showOne(tx, rights, id, receiptOf);
    const { id, shown, secret, replayed, change } = await createOnce(management, request, make, showMade);
    reply.code(201).header("location", `/api/v1/keys/${id}`);
    if (replayed) reply.header("idempotency-replayed", "true");
    return withEtag(reply, { ...shown, secret, change });
  }
}

function knownId({ id }: ById): string {
  if (!KEY_ID.test(id)) throw NO_KEY;
  return id;
}
