import type { FastifyInstance } from "fastify";
import { appendAudit } from "../../store/audit/audit.ts";
import type { Db } from "../../store/database/change.ts";
import { clusterNames } from "../../store/objects/cluster-names.ts";
import { clustersWithPolicies, forgetPolicies } from "../../store/policies/key-policies.ts";
import { requireSessionStill } from "../auth/management/principal-now.ts";
import { problem } from "../http/problems/problem.ts";
import { changeContextOf } from "./change-context.ts";
import type { Management } from "./context.ts";
import { managedRoute } from "./managed-route.ts";
import { REASON, type ReasonBody } from "./request-schemas.ts";
import { closedObject } from "./response-schemas.ts";
import { requireInstallation } from "./rights.ts";

type Body = ReasonBody & { cluster: string };

const BODY = {
  type: "object",
  additionalProperties: false,
  required: ["cluster"],
  properties: {
    cluster: {
      type: "string",
      minLength: 1,
      maxLength: 255,
      description: "The uid of its namespace kube-system, as errors and the page of a key show it.",
    },
    reason: REASON,
  },
} as const;

const FORGOTTEN = closedObject("ForgottenPolicies", {
  forgotten: { type: "array", items: { type: "string" }, description: "The names of the policies that held." },
});

/** Answer, as programs read it. */
export type ForgottenPolicies = { readonly forgotten: readonly string[] };

/**
 * Serves the removal of a deleted cluster's PlatformKeyPolicies, so that they no longer apply to keys made by hand
 * (docs/decisions/key-policies.md).
 */
export function forgottenPolicyRoutes(app: FastifyInstance, management: Management): void {
  app.post<{ Body: Body }>(
    "/forgotten-policies",
    {
      config: managedRoute({
        summary: "Forget the PlatformKeyPolicies of a cluster that is gone: by the installation's own",
        response: FORGOTTEN,
        refusals: ["not_found"],
        example: { cluster: "2f1c0c9e-6f0e-4b1a-9d6c-0a4f6f3f9b1e", reason: "the cluster was deleted" },
      }),
      schema: { body: BODY },
    },
    async (request): Promise<ForgottenPolicies> => {
      const { store, principal, rights, author: by } = await changeContextOf(management, request, request.body);
      const { cluster } = request.body;
      requireInstallation(rights, "forget policies");
      const forgotten = await store.db.transaction().execute(async (tx) => {
        await requireSessionStill(tx, principal);
        const names = await forgetPolicies(tx, cluster);
        if (names.length > 0) {
          await appendAudit(tx, [{ at: null, kind: "policies.forgotten", by, detail: { cluster, policies: names } }]);
        }
        return names;
      });
      if (forgotten.length === 0) throw await noPolicies(store.db);
      return { forgotten };
    },
  );
}

async function noPolicies(db: Db) {
  const names = await clusterNames(db);
  const known = (await clustersWithPolicies(db)).map((cluster) => {
    const name = names.get(cluster);
    return name ? `${cluster} (${name})` : cluster;
  });
  const instead = known.length === 0 ? "there are none of any cluster" : `there are some of ${known.join(", ")}`;
  return problem("not_found", `No PlatformKeyPolicies of this cluster are stored: ${instead}.`);
}
