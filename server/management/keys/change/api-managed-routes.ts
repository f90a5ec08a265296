import type { FastifyInstance, FastifyReply } from "fastify";
import { change } from "../../../../store/database/change.ts";
import { changeContextOf } from "../../change-context.ts";
import type { Management } from "../../context.ts";
import { type CreationResult, creationOf, markCreated } from "../../creation.ts";
import { managedRoute } from "../../managed-route.ts";
import { bodyMayBeMissing } from "../../paging.ts";
import { checkIfMatch, requireIfMatch, withEtag } from "../../preconditions.ts";
import { REASON_BODY, REASON_EXAMPLE, type ReasonBody } from "../../request-schemas.ts";
import { RECEIPT } from "../../response-schemas.ts";
import { createKey, createVersion } from "../make/api-managed-keys.ts";
import { type MakeKey, makeKeyOnce } from "../make/make-key.ts";
import { type KeyIdParams, keyIdOf } from "../request/key-request.ts";
import {
  CREATE_KEY_BODY,
  CREATE_KEY_EXAMPLE,
  CREATE_VERSION_BODY,
  type CreateKeyBody,
  type CreateVersionBody,
  REPLACE_KEY_BODY,
  type ReplaceKeyBody,
} from "../request/request-schemas.ts";
import { requireApiManaged } from "../request/requirements.ts";
import type { KeyJson } from "../shown/key-json.ts";
import { KEY } from "../shown/response-schemas.ts";
import { showKey } from "../shown/shown-key.ts";
import { replaceKeySpecIn, revokeByHand } from "./changes.ts";

/** Serves the changes and the end of keys that were made by hand. */
export function apiManagedKeyRoutes(app: FastifyInstance, management: Management): void {
  const { store, clock, receipts } = management;

  app.post<{ Body: CreateKeyBody }>(
    "/keys",
    {
      config: managedRoute({
        summary: "Make a key",
        status: 201,
        response: KEY,
        example: CREATE_KEY_EXAMPLE,
        refusals: ["conflict", "exists", "invalid"],
        idempotent: true,
      }),
      schema: { body: CREATE_KEY_BODY },
    },
    async (request, reply) => {
      const context = await changeContextOf(management, request, request.body);
      const make: MakeKey = (tx) => createKey(tx, context, request.body);
      const made = await makeKeyOnce(management, creationOf(request), context, make);
      return showMade(reply, made);
    },
  );

  app.put<{ Params: KeyIdParams; Body: ReplaceKeyBody }>(
    "/keys/:id",
    {
      config: managedRoute({
        summary: "Change what a key that was made here is to be, the whole of it",
        response: KEY,
        example: { spec: { preset: "MCPReadWrite", expiresAfter: "2160h" } },
        refusals: ["conflict", "managed", "invalid"],
        ifMatch: "required",
      }),
      schema: { body: REPLACE_KEY_BODY },
    },
    async (request, reply) => {
      const context = await changeContextOf(management, request, request.body);
      const id = keyIdOf(request);
      const ifMatch = requireIfMatch(request.headers["if-match"]);
      // Before the transaction: PGlite runs no other query during it.
      const receiptOf = await receipts.read();
      const { result: shown, seq } = await change(store, null, async (tx) => {
        await replaceKeySpecIn(tx, context, id, request.body, ifMatch);
        // While the answer waits for its receipt, another client may store something else (threats b478).
        return showKey({ db: tx, receiptOf, now: clock.now() }, context.rights, id);
      });
      return withEtag(reply, { ...shown, change: await receipts.wait(seq) });
    },
  );

  app.delete<{ Params: KeyIdParams; Body: ReasonBody }>(
    "/keys/:id",
    {
      config: managedRoute({
        summary: "End a key that was made here, for ever",
        response: RECEIPT,
        example: REASON_EXAMPLE,
        refusals: ["conflict", "managed"],
        ifMatch: "optional",
      }),
      preValidation: bodyMayBeMissing,
      schema: { body: REASON_BODY },
    },
    async (request) => {
      const context = await changeContextOf(management, request, request.body);
      const seq = await revokeByHand(context, keyIdOf(request), "Deleted", (key) => {
        requireApiManaged(key);
        checkIfMatch(request.headers["if-match"], key);
      });
      return receipts.wait(seq);
    },
  );

  app.post<{ Params: KeyIdParams; Body: CreateVersionBody }>(
    "/keys/:id/versions",
    {
      config: managedRoute({
        summary: "Make a new version of a key that was made here",
        status: 201,
        response: KEY,
        example: { overlap: "1h" },
        refusals: ["conflict", "managed", "too_many_versions", "invalid"],
        idempotent: true,
      }),
      preValidation: bodyMayBeMissing,
      schema: { body: CREATE_VERSION_BODY },
    },
    async (request, reply) => {
      const context = await changeContextOf(management, request, request.body);
      const id = keyIdOf(request);
      const make: MakeKey = (tx) => createVersion(tx, context, id, request.body);
      return showMade(reply, await makeKeyOnce(management, creationOf(request), context, make));
    },
  );
}

function showMade(reply: FastifyReply, made: CreationResult<KeyJson>): KeyJson {
  markCreated(reply, "keys", made);
  const { shown, secret, change } = made;
  return withEtag(reply, { ...shown, secret, change });
}
