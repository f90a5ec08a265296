/**
 * Credentials that go into an object and never come out: those of a gateway's upstreams, and the signing secrets of a
 * team's webhooks.
 */

import type { Kind } from "../../../domain/kinds/kinds.ts";
import { isRecord } from "../../../domain/manifest/document/identity.ts";
import { Secret, type Value, type Values } from "./values.ts";

/** List in a spec whose entries each have a secret. */
type CredentialList = {
  readonly list: "upstreams" | "webhooks";
  /** Field that identifies an entry. */
  readonly id: string;
  /** Field of the secret, as programs give it. */
  readonly field: "credential" | "secret";
  /** Field of declarations that refers to the secret instead. */
  readonly reference: string;
  /** Field that is true for an entry without a secret; left out if each entry has one. */
  readonly none?: string;
  /** Output with the entries whose secret the server lacks. */
  readonly missing: "missingCredentials" | "missingSecrets";
  /** Noun for messages. */
  readonly noun: string;
};

const LISTS: { readonly [K in Kind]?: CredentialList } = {
  ModelGateway: {
    ...{ list: "upstreams", id: "name", field: "credential", reference: "credentialRef", none: "noCredential" },
    ...{ missing: "missingCredentials", noun: "the provider's credential" },
  },
  PlatformTeam: {
    ...{ list: "webhooks", id: "url", field: "secret", reference: "secretRef" },
    ...{ missing: "missingSecrets", noun: "the signing secret" },
  },
};

export function credentialsOf(kind: Kind): CredentialList | undefined {
  return LISTS[kind];
}

/** Changes each entry of the list. Parts that are marked as secret stay marked. */
export function mapEntries(value: Value, change: (entry: Values) => Value): Value {
  if (value instanceof Secret) return new Secret(mapEntries(value.value, change));
  if (Array.isArray(value)) return value.map((entry: Value) => mapEntries(entry, change));
  return isRecord(value) ? change(value as Values) : value;
}
