import type { FastifyInstance, FastifyRequest } from "fastify";
import { writeYaml } from "../../../../domain/manifest/document/write-yaml.ts";
import type { Management } from "../../../management/context.ts";
import type { KeyIdParams } from "../../../management/keys/request/key-request.ts";
import { exportKey } from "../../../management/keys/shown/export-key.ts";
import { requireRight } from "../../../management/rights.ts";
import { sendAttachment } from "../../attachment.ts";
import { formErrorsOf } from "../form/form-errors.ts";
import { seeKey, sendKeyPage } from "../page/key-routes.ts";
import { exportContent } from "./export-page.ts";

type ExportRequest = { Params: KeyIdParams; Querystring: Readonly<Record<string, unknown>> };

/** Serves the manifest by which a key that was made by hand is taken into declarations. */
export function keyExportRoutes(app: FastifyInstance, management: Management): void {
  const { store } = management;

  app.get<ExportRequest>("/keys/:id/manifest", { config: { console: true } }, async (request, reply) => {
    const { key, rights } = await seeKey(management, request);
    requireRight(rights, key.teamId, "change keys");
    const show = (page: Omit<Parameters<typeof exportContent>[0], "key">) =>
      sendKeyPage(request, reply, `Export ${key.name}`, exportContent({ key, ...page }));
    try {
      return show({ exported: await exportKey(store.db, rights, key.id, namespaceOf(request)), refused: "" });
    } catch (error) {
      const { shown } = formErrorsOf(error);
      reply.code(shown.status);
      return show({ exported: null, refused: shown.detail });
    }
  });

  app.get<ExportRequest>("/keys/:id/manifest.yaml", { config: { console: true } }, async (request, reply) => {
    const { key, rights } = await seeKey(management, request);
    const { manifest } = await exportKey(store.db, rights, key.id, namespaceOf(request));
    const name = `${manifest.metadata.name}.yaml`;
    return sendAttachment(reply, { name, type: "application/yaml" }, writeYaml(manifest));
  });
}

function namespaceOf({ query: { namespace } }: FastifyRequest<ExportRequest>): string | undefined {
  return typeof namespace === "string" ? namespace : undefined;
}
