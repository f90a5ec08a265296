import { dataKeyTitle } from "../../domain/redact.ts";
import { parseWebhookSecrets } from "../../domain/webhook/webhook.ts";
import { namespacesOfOthers } from "../../store/teams/teams.ts";
import type { WebhookDraft } from "../../store/webhooks/team-webhooks.ts";
import type { DeclaredObject } from "../cluster/port.ts";
import { readIfAllowed } from "../cluster/secret-reading.ts";
import type { ControllerDeps } from "../context/deps.ts";

export type ReadWebhooks = {
  readonly webhooks: readonly WebhookDraft[];
  /** Secrets that are not there, or hold no signing secret. */
  readonly missing: readonly string[];
  /** Reason why one of them may not be read; undefined if all may. */
  readonly why: string | undefined;
};

/**
 * Reads a team's webhooks with their signing secrets. A webhook whose Secret is missing has no signing secret; a
 * webhook whose Secret may not be read keeps the secret that it had. Only Secrets in a namespace of this team, or of no
 * team yet, are read.
 *
 * @param reserved namespaces that can be no team's
 */
export async function readWebhooks(
  { cluster, store }: ControllerDeps,
  { name, spec }: DeclaredObject<"PlatformTeam">,
  reserved: readonly string[],
): Promise<ReadWebhooks> {
  const webhooks: WebhookDraft[] = [];
  const missing: string[] = [];
  let why: string | undefined;
  if (spec.webhooks.length === 0) return { webhooks, missing, why };
  const others = await namespacesOfOthers(store.db, cluster.uid, name);
  for (const { url, events, secretRef } of spec.webhooks) {
    const { namespace } = secretRef;
    const isOurs = !reserved.includes(namespace) && !others.includes(namespace);
    const read = isOurs ? await readIfAllowed(cluster, namespace, secretRef.name) : { secret: undefined };
    if ("why" in read) {
      why ??= read.why;
      webhooks.push({ url, events, secret: undefined });
      continue;
    }
    const text = read.secret?.data[secretRef.key]?.trim();
    const secret = text !== undefined && parseWebhookSecrets(text) !== undefined ? text : null;
    if (secret === null) {
      missing.push(`Secret ${namespace}/${secretRef.name} with ${dataKeyTitle(secretRef.key)} (webhook ${url})`);
    }
    webhooks.push({ url, events, secret });
  }
  return { webhooks, missing, why };
}
