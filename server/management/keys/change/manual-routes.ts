import type { FastifyInstance } from "fastify";
import { changeContextOf } from "../../change-context.ts";
import type { Management } from "../../context.ts";
import { creationOf } from "../../creation.ts";
import { managedRoute } from "../../managed-route.ts";
import { bodyMayBeMissing } from "../../paging.ts";
import { REASON_BODY, REASON_EXAMPLE, type ReasonBody } from "../../request-schemas.ts";
import { RECEIPT } from "../../response-schemas.ts";
import { type KeyIdParams, keyIdOf } from "../request/key-request.ts";
import { ROTATE_BODY, type RotateBody } from "../request/request-schemas.ts";
import { revokeByHand, rotateByHand } from "./changes.ts";

/** Serves what is done by hand to any key, wherever it is declared: revoking it, or requesting a new version. */
export function manualKeyRoutes(app: FastifyInstance, management: Management): void {
  const { receipts } = management;

  app.post<{ Params: KeyIdParams; Body: ReasonBody }>(
    "/keys/:id/revoke",
    {
      config: managedRoute({
        summary: "End a key and all its versions, for ever, wherever it is declared",
        response: RECEIPT,
        example: REASON_EXAMPLE,
      }),
      preValidation: bodyMayBeMissing,
      schema: { body: REASON_BODY },
    },
    async (request) => {
      const context = await changeContextOf(management, request, request.body);
      return receipts.wait(await revokeByHand(context, keyIdOf(request), "ByHand"));
    },
  );

  app.post<{ Params: KeyIdParams; Body: RotateBody }>(
    "/keys/:id/rotate",
    {
      config: managedRoute({
        summary: "Ask for a new version of a declared key",
        status: 202,
        response: RECEIPT,
        example: { revokeOld: false, ...REASON_EXAMPLE },
        refusals: ["conflict", "too_many_versions"],
        idempotent: "receipt",
      }),
      preValidation: bodyMayBeMissing,
      schema: { body: ROTATE_BODY },
    },
    async (request, reply) => {
      const context = await changeContextOf(management, request, request.body);
      const seq = await rotateByHand(context, keyIdOf(request), request.body.revokeOld, creationOf(request));
      return reply.code(202).send(await receipts.wait(seq));
    },
  );
}
