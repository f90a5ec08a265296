import { isDeepStrictEqual } from "node:util";
import type { FastifyInstance } from "fastify";
import { problem } from "../../../http/problems/problem.ts";
import { changeContextOf } from "../../../management/change-context.ts";
import type { Management } from "../../../management/context.ts";
import { replaceKeySpec } from "../../../management/keys/change/changes.ts";
import type { KeyIdParams } from "../../../management/keys/request/key-request.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { etagOf } from "../../../management/preconditions.ts";
import { requireRight } from "../../../management/rights.ts";
import { type FormBody, field } from "../../../pages/forms.ts";
import { viewerOf } from "../../../pages/viewer.ts";
import { requireMadeByHand, seeKey, sendKeyPage } from "../page/key-routes.ts";
import { faultsOfEdit } from "./all-faults.ts";
import type { Bindings } from "./binding-fields.ts";
import { bindingsFor, refNamesFor } from "./bindings.ts";
import { editContent } from "./edit-page.ts";
import { NO_ERRORS } from "./form-errors.ts";
import {
  EMPTY_FIELDS,
  fieldsOfSpec,
  fieldsWithoutKeys,
  type KeyFields,
  readKeyFields,
  specOfFields,
} from "./key-fields.ts";

/** Serves the form that changes what a key made by hand may do, without a new secret. */
export function keyEditRoutes(app: FastifyInstance, management: Management): void {
  const { store, prices } = management;

  app.get<{ Params: KeyIdParams }>("/keys/:id/edit", { config: { console: true } }, async (request, reply) => {
    const { key, rights } = await seeKey(management, request);
    requireRight(rights, key.teamId, "change keys");
    requireMadeByHand(key);
    if (key.state === "revoked") throw problem("conflict", "The key is revoked, which is final: make a new one.");
    const bindings = await bindingsFor(store.db, [key.teamId], key.namespace);
    const stored = fieldsOfKey(key, bindings);
    const content = editContent({
      ...{ key, bindings, stored, fields: stored, errors: NO_ERRORS },
      etag: etagOf(key),
      isOutdated: false,
      viewer: viewerOf(request),
    });
    return sendKeyPage(request, reply, `Edit ${key.name}`, content);
  });

  app.post<{ Params: KeyIdParams; Body: FormBody }>(
    "/keys/:id/edit",
    { config: { console: true } },
    async (request, reply) => {
      const { key } = await seeKey(management, request);
      requireMadeByHand(key);
      const fields = { ...readKeyFields(request.body, key.spec), name: key.name, team: key.teamId };
      const etag = field(request.body, "etag");
      const context = await changeContextOf(management, request, {});
      const spec = specOfFields(fields, key.spec);
      try {
        await replaceKeySpec(context, key.id, { spec }, etag);
        return reply.redirect(`/dashboard/keys/${key.id}`, 303);
      } catch (error) {
        const { rights } = context;
        const { shown, errors } = await faultsOfEdit(store.db, error, { fields, rights, namespace: key.namespace });
        const isOutdated = shown.code === "precondition_failed";
        const now = isOutdated ? (await seeKey(management, request)).key : key;
        // The form was sent twice: the key is already as it asks.
        if (isOutdated && isDeepStrictEqual(now.spec, spec)) return reply.redirect(`/dashboard/keys/${key.id}`, 303);
        const bindings = await bindingsFor(store.db, [key.teamId], key.namespace);
        const content = editContent({
          ...{ key: now, bindings, stored: fieldsOfKey(now, bindings), errors, isOutdated },
          fields: fieldsWithoutKeys(fields),
          // The page shows what is stored now: the person who has seen it may replace it.
          etag: isOutdated ? etagOf(now) : etag,
          viewer: viewerOf(request),
        });
        return sendKeyPage(request, reply.code(shown.status), `Edit ${key.name}`, content);
      }
    },
  );

  function fieldsOfKey({ name, namespace, team, spec }: KeyJson, bindings: Bindings): KeyFields {
    const currency = prices.current()?.currency ?? "";
    return { ...EMPTY_FIELDS, ...fieldsOfSpec(spec, refNamesFor(namespace, bindings), currency), name, team };
  }
}
