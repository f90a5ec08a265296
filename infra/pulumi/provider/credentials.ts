/** The secrets that go into an object and never come out: of a gateway's upstreams, and of a team's webhooks. */

import type { Kind } from "../../../domain/kinds/kinds.ts";
import { isRecord } from "../../../domain/manifest/document/identity.ts";
import { Secret, type Value, type Values } from "./values.ts";

/** A list of a spec whose entries each have a secret. */
type CredentialList = {
  readonly list: "upstreams" | "webhooks";
  /** What an entry is known by. */
  readonly id: string;
  /** The secret itself, as programs give it. */
  readonly field: "credential" | "secret";
  /** What declarations have in its place. */
  readonly reference: string;
  /** Of the outputs: the entries that the server has none for. */
  readonly missing: "missingCredentials" | "missingSecrets";
  /** In messages. */
  readonly noun: string;
};

const LISTS: { readonly [K in Kind]?: CredentialList } = {
  ModelGateway: {
    ...{ list: "upstreams", id: "name", field: "credential", reference: "credentialRef" },
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

/** Changes each entry of the list, in what may be marked as a secret as a whole. */
export function mapEntries(value: Value, change: (entry: Values) => Value): Value {
  if (value instanceof Secret) return new Secret(mapEntries(value.value, change));
  if (Array.isArray(value)) return value.map((entry: Value) => mapEntries(entry, change));
  return isRecord(value) ? change(value as Values) : value;
}
