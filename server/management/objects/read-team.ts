import type { PlatformTeamSpec } from "../../../domain/kinds/generated/platform-team.ts";
import { isRecord } from "../../../domain/manifest/document/identity.ts";
import type { FieldDiagnostic } from "../../../domain/manifest/validation/check-spec.ts";
import { jsonSchema, specSchema } from "../../../domain/manifest/validation/json-schema.ts";
import {
  fillInNamespaces,
  freeLibraries,
  withFreeLibraries,
} from "../../../domain/manifest/validation/team-libraries.ts";
import { parseWebhookSecrets } from "../../../domain/webhook/webhook.ts";
import type { StoredTeam } from "../../../store/objects/objects.ts";
import type { WebhookDraft } from "../../../store/webhooks/team-webhooks.ts";
import { type GivenObject, invalid, readGivenObject } from "./diagnostics.ts";

/** Parsed request to make or change a team. */
export type ReadTeam = Omit<PlatformTeamSpec, "webhooks"> & { readonly webhooks: readonly WebhookDraft[] };

const MAX_SECRET_LENGTH = 256;

/**
 * Schema of a team's spec: a PlatformTeam's, with each webhook's signing secret in place of the reference to a Secret.
 * References to libraries may be without a namespace.
 */
export const TEAM_SPEC: Readonly<Record<string, unknown>> = { title: "TeamSpec", ...withSecrets() };

function withSecrets(): Record<string, unknown> {
  const spec = withFreeLibraries(specSchema("PlatformTeam"));
  const webhooks = spec.properties?.webhooks;
  const { secretRef: _, ...fields } = webhooks?.items?.properties ?? {};
  if (webhooks?.items === undefined) throw new Error("the schema of PlatformTeam is another than it was");
  const secret = {
    type: "string",
    description:
      "The signing secret, as whsec_ and 24 to 64 random bytes in base64; never answered. Where it is left out in a change, the one that is stored stays, as long as the URL does.",
    minLength: 1,
    maxLength: MAX_SECRET_LENGTH,
  } as const;
  const items = { ...webhooks.items, required: ["url", "events"], properties: { ...fields, secret } };
  return jsonSchema({ ...spec, properties: { ...spec.properties, webhooks: { ...webhooks, items } } });
}

/**
 * Parses a spec like a PlatformTeam's, with signing secrets in place of references.
 *
 * @param old stored team, if it is to be changed
 * @throws Problem `invalid`
 */
export function readTeam(given: GivenObject, old?: StoredTeam): ReadTeam {
  const { webhooks: list = [], ...rest } = isRecord(given.spec) ? given.spec : {};
  const placed = readGivenObject(
    "PlatformTeam",
    { ...given, spec: isRecord(given.spec) ? fillInNamespaces(rest) : given.spec },
    old && { spec: { displayName: old.displayName }, status: {} },
    old,
  );
  const spec = freeLibraries(placed, rest);
  const { webhooks, secrets } = takeSecrets(list);
  // Webhooks are read apart: a team that was made by hand has no namespace for a Secret.
  const apart = { ...given, spec: { namespaces: [SOME_SECRET.namespace], webhooks } };
  const read = readGivenObject("PlatformTeam", apart, undefined, old);
  return {
    ...spec,
    webhooks: read.webhooks.map(({ url, events }, i) => {
      const secret = secrets[i];
      const stays = old?.webhooks.some((webhook) => webhook.url === url && webhook.hasSecret) ?? false;
      if (secret === undefined && !stays) throw invalid([{ path: `spec.webhooks[${i}].secret`, message: WANTED }]);
      return { url, events, secret };
    }),
  };
}

const WANTED = "must be whsec_ and 24 to 64 random bytes in base64, or two of these with a space between";

/** Reference that stands in the declarations' schema for a secret that is given itself. */
const SOME_SECRET = { namespace: "none", name: "none" };

/** Replaces each secret by a reference, and returns the secrets apart: no message repeats them. */
function takeSecrets(list: unknown): { webhooks: unknown; secrets: (string | undefined)[] } {
  if (!Array.isArray(list)) return { webhooks: list, secrets: [] };
  const diagnostics: FieldDiagnostic[] = [];
  const secrets: (string | undefined)[] = [];
  const webhooks = list.map((webhook: unknown, i) => {
    if (!isRecord(webhook)) return webhook;
    const { secret, secretRef, ...fields } = webhook;
    const path = `spec.webhooks[${i}]`;
    if (secretRef !== undefined) {
      diagnostics.push({ path: `${path}.secretRef`, message: "is for a team that is declared: write secret" });
    }
    // Refused here, without repeating the URL, which may hold a credential.
    if (typeof fields.url === "string" && /[@?#]/.test(fields.url)) {
      diagnostics.push({ path: `${path}.url`, message: "must be without credentials, query and fragment" });
    }
    if (typeof secret === "string" && parseWebhookSecrets(secret) !== undefined) secrets[i] = secret.trim();
    else if (secret !== undefined) diagnostics.push({ path: `${path}.secret`, message: WANTED });
    return { ...fields, secretRef: SOME_SECRET };
  });
  if (diagnostics.length > 0) throw invalid(diagnostics);
  return { webhooks, secrets };
}
