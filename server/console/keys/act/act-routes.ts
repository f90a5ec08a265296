import type { FastifyInstance } from "fastify";
import { readKnownUsage } from "../../../../store/keys/uses/usage.ts";
import { Problem, problem } from "../../../http/problems/problem.ts";
import { changeContextOf } from "../../../management/change-context.ts";
import type { Management } from "../../../management/context.ts";
import { creationBy } from "../../../management/creation.ts";
import { replaceKeySpec, revokeByHand, rotateByHand } from "../../../management/keys/change/changes.ts";
import { createVersion } from "../../../management/keys/make/api-managed-keys.ts";
import { makeShownKey } from "../../../management/keys/make/make-shown-key.ts";
import { type KeyIdParams, keyIdOf } from "../../../management/keys/request/key-request.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { etagOf } from "../../../management/preconditions.ts";
import { requireRight } from "../../../management/rights.ts";
import { type FormBody, field, newSubmissionId, readSubmissionId, withoutKeys } from "../../../pages/forms.ts";
import { viewerOf } from "../../../pages/viewer.ts";
import { formErrorsOf } from "../form/form-errors.ts";
import { isAbandoned, showOnce } from "../once/show-once.ts";
import { requireMadeByHand, seeKey, seeRequests, sendKeyPage } from "../page/key-routes.ts";
import {
  NOTHING_TYPED,
  OVERLAPS,
  revokeContent,
  rotateContent,
  type TypedRevocation,
  type TypedRotation,
  USUAL_OVERLAP,
} from "./act-pages.ts";
import { givenReason } from "./typed-reason.ts";

type ActRequest = { Params: KeyIdParams; Body: FormBody };

/**
 * Refusal of a form that was opened while the key was made by hand. A declared key's new version is not shown, and its
 * present version may end.
 */
const TAKEN_OVER = problem(
  "managed",
  "A declaration has taken this key over since the form was opened: rotating it is another thing now, as the form below says.",
);

/** Serves what is done to a key at once: revoking it, making or requesting a new version, suspending it. */
export function keyActRoutes(app: FastifyInstance, management: Management, publicUrl: URL | null): void {
  revokeRoutes(app, management);
  rotateRoutes(app, management, publicUrl);
  suspensionRoute(app, management);
}

function revokeRoutes(app: FastifyInstance, management: Management): void {
  const { store } = management;

  async function content(key: KeyJson, viewer: ReturnType<typeof viewerOf>, typed: TypedRevocation, refused = "") {
    const { now, lastUses } = await readKnownUsage(store.db, key.id);
    const { hour } = await seeRequests(management, key.id);
    return revokeContent({ key, viewer, refused }, { lastUses, lastHour: hour, now }, typed);
  }

  app.get<{ Params: KeyIdParams }>("/keys/:id/revoke", { config: { console: true } }, async (request, reply) => {
    const { key, rights } = await seeKey(management, request);
    requireRight(rights, key.teamId, "revoke keys");
    return sendKeyPage(request, reply, `Revoke ${key.name}`, await content(key, viewerOf(request), NOTHING_TYPED));
  });

  app.post<ActRequest>("/keys/:id/revoke", { config: { console: true } }, async (request, reply) => {
    const id = keyIdOf(request);
    const [reason, confirm] = [field(request.body, "reason"), field(request.body, "confirm")];
    const typed = { reason: withoutKeys(reason), confirm: withoutKeys(confirm), fault: "" };
    const { key: confirmed, rights } = await seeKey(management, request);
    requireRight(rights, confirmed.teamId, "revoke keys");
    if (confirm !== confirmed.name) {
      const fault = `Name of the key: type ${confirmed.name}.`;
      const page = await content(confirmed, viewerOf(request), { ...typed, fault });
      return sendKeyPage(request, reply.code(422), `Revoke ${confirmed.name}`, page);
    }
    try {
      const context = await changeContextOf(management, request, givenReason(reason));
      await revokeByHand(context, id, "ByHand");
      return reply.redirect(`/dashboard/keys/${id}`, 303);
    } catch (error) {
      const { shown } = formErrorsOf(error);
      const { key } = await seeKey(management, request);
      const page = await content(key, viewerOf(request), typed, shown.detail);
      return sendKeyPage(request, reply.code(shown.status), `Revoke ${key.name}`, page);
    }
  });
}

function rotateRoutes(app: FastifyInstance, management: Management, publicUrl: URL | null): void {
  app.get<{ Params: KeyIdParams }>("/keys/:id/rotate", { config: { console: true } }, async (request, reply) => {
    const { key, rights } = await seeKey(management, request);
    requireRight(rights, key.teamId, "change keys");
    if (key.declaredIn === null) requireMadeByHand(key);
    const use = await readKnownUsage(management.store.db, key.id);
    const form = { key, viewer: viewerOf(request), refused: "" };
    const content = rotateContent(form, newSubmissionId(), use, readRotation({}));
    return sendKeyPage(request, reply, `Rotate ${key.name}`, content);
  });

  app.post<ActRequest>("/keys/:id/rotate", { config: { console: true } }, async (request, reply) => {
    const { key } = await seeKey(management, request);
    const { id } = key;
    const once = readSubmissionId(request.body);
    const typed = readRotation(request.body);
    const { overlap, revokeOld } = typed;
    const context = await changeContextOf(management, request, {});
    try {
      if (key.declaredIn !== null) {
        if (field(request.body, "overlap") !== "") throw TAKEN_OVER;
        await rotateByHand(context, id, revokeOld, creationBy(request, `${once} ${revokeOld}`, ["console", id]));
        return reply.redirect(`/dashboard/keys/${id}`, 303);
      }
      requireMadeByHand(key);
      const creation = creationBy(request, once, ["console", id, overlap]);
      const form = { creation, context, isLeft: () => isAbandoned(reply) };
      const made = await makeShownKey(management, form, (tx) => createVersion(tx, context, id, { overlap }));
      return await showOnce(management.store.db, request, reply, made, publicUrl);
    } catch (error) {
      const { shown } = formErrorsOf(error);
      const use = await readKnownUsage(management.store.db, id);
      const content = rotateContent({ key, viewer: viewerOf(request), refused: shown.detail }, once, use, typed);
      return sendKeyPage(request, reply.code(shown.status), `Rotate ${key.name}`, content);
    }
  });
}

/** Suspends a key that was made by hand, or lets it be used again. The rest of its spec stays. */
function suspensionRoute(app: FastifyInstance, management: Management): void {
  app.post<ActRequest>("/keys/:id/state", { config: { console: true } }, async (request, reply) => {
    const { key } = await seeKey(management, request);
    requireMadeByHand(key);
    const state = field(request.body, "state");
    if (state !== "Active" && state !== "Suspended") {
      throw problem("invalid_request", "The form is incomplete: open the key's page again.");
    }
    const context = await changeContextOf(management, request, {});
    try {
      await replaceKeySpec(context, key.id, { spec: { ...key.spec, state } }, etagOf(key));
    } catch (error) {
      // Where the button was pressed twice, the other request has done it.
      if (!(error instanceof Problem) || error.code !== "precondition_failed") throw error;
      const { key: present } = await seeKey(management, request);
      if (present.spec.state !== state) throw error;
    }
    return reply.redirect(`/dashboard/keys/${key.id}`, 303);
  });
}

/** Reads a form that rotates a key; the usual overlap for a text that it does not offer. */
function readRotation(body: FormBody): TypedRotation {
  const overlap = OVERLAPS.find(({ value }) => value === field(body, "overlap"))?.value ?? USUAL_OVERLAP;
  return { overlap, revokeOld: field(body, "revokeOld") === "yes" };
}
