/** Specs in the form of the declarations: how a program's spec is checked, and when two specs are equal. */
import { isDeepStrictEqual } from "node:util";
import type { Kind, Spec } from "../../../domain/kinds/kinds.ts";
import { isRecord } from "../../../domain/manifest/document/identity.ts";
import { checkSpec, type FieldDiagnostic } from "../../../domain/manifest/validation/check-spec.ts";
import { fillInNamespaces } from "../../../domain/manifest/validation/team-libraries.ts";
import { declareTeam, storedLists, teamSpec } from "../../../domain/team/declared-team.ts";
import { credentialsOf } from "./credentials.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Name in a reference that stands for a secret which the program gives itself. */
const SOME_NAME = "credential";

/** Returns a spec in the form of its kind's schema. */
function declared(kind: Kind, spec: Fields): Fields {
  const credentials = credentialsOf(kind);
  const entries = credentials && spec[credentials.list];
  const isTeam = kind === "PlatformTeam";
  const placed = isTeam ? fillInNamespaces(spec) : spec;
  if (credentials === undefined || !Array.isArray(entries) || entries.length === 0) return placed;
  const { list, field, reference, none = "" } = credentials;
  const withReference = ({ [field]: _, [none]: isWithout, ...entry }: Fields): Fields => ({
    ...entry,
    ...(isWithout !== true && {
      [reference]: isTeam ? { namespace: SOME_NAME, name: SOME_NAME } : { name: SOME_NAME },
    }),
  });
  const { namespaces = [] } = placed;
  return {
    ...placed,
    [list]: entries.map((entry) => (isRecord(entry) ? withReference(entry) : entry)),
    // A declared team signs with Secrets of its namespaces.
    ...(isTeam && Array.isArray(namespaces) && { namespaces: [...namespaces, SOME_NAME] }),
  };
}

/** Returns the faults in a spec by the schema and rules of its kind. Paths begin at the spec. */
export function diagnosticsOf(kind: Kind, name: string, spec: Fields): FieldDiagnostic[] {
  const checked = checkSpec(kind, name, declared(kind, spec));
  if (!("diagnostics" in checked)) return [];
  return checked.diagnostics.map(({ path, message }) => ({ path: path.replace(/^spec\.?/, ""), message }));
}

/**
 * True if two specs have the same effect, with defaults filled in. Credentials and signing secrets, which the API never
 * returns, are not compared, nor is a public id that only one of them gives.
 */
export function isSameSpec(kind: Kind, name: string, a: Fields, b: Fields): boolean {
  const [one, other] = [normal(kind, name, a), normal(kind, name, b)];
  if (one.publicID === undefined || other.publicID === undefined) {
    return isDeepStrictEqual({ ...one, publicID: undefined }, { ...other, publicID: undefined });
  }
  return isDeepStrictEqual(one, other);
}

/** Returns a spec with defaults filled in, and without fields that have no effect. */
function normal(kind: Kind, name: string, spec: Fields): Fields {
  const checked = checkSpec(kind, name, declared(kind, spec));
  const { displayName, description, upstreams, webhooks, ...fields }: Fields =
    "diagnostics" in checked ? spec : answered(checked.spec, name);
  return {
    ...fields,
    ...(displayName !== name && displayName !== undefined && { displayName }),
    ...(description !== "" && description !== undefined && { description }),
    ...(Array.isArray(upstreams) && { upstreams: upstreams.map(normalUpstream) }),
    ...(Array.isArray(webhooks) && { webhooks: webhooks.map(normalWebhook).sort(byUrl) }),
  };
}

/** Returns a checked spec; of a team, whose spec the API does not keep as it was written, as it is answered. */
function answered(spec: Spec<Kind>, name: string): Fields {
  if (!("webhooks" in spec)) return { ...spec };
  const team = declareTeam(spec, name);
  return { ...teamSpec({ ...team, ...storedLists(team), name }), webhooks: spec.webhooks };
}

function normalUpstream(upstream: unknown): unknown {
  if (!isRecord(upstream)) return upstream;
  const { credentialRef, credential: _, noCredential = credentialRef === undefined, baseURL, ...fields } = upstream;
  return { ...fields, noCredential, baseURL: typeof baseURL === "string" ? baseURL.replace(/\/+$/, "") : baseURL };
}

/** Returns a webhook without its secret, and with sorted events, since the API sorts them too. */
function normalWebhook(webhook: unknown): Fields {
  const { secretRef: _, secret: __, events, ...fields } = isRecord(webhook) ? webhook : {};
  return { ...fields, events: Array.isArray(events) ? events.toSorted() : events };
}

function byUrl(one: Fields, other: Fields): number {
  return String(one.url) < String(other.url) ? -1 : 1;
}

/** Returns the same spec in the fewest fields, as a person would write it who leaves defaults out. */
export function minimalSpec(kind: Kind, name: string, spec: Fields): Fields {
  return Object.keys(spec).reduce<Fields>((minimal, field) => {
    const { [field]: _, ...rest } = minimal;
    return diagnosticsOf(kind, name, rest).length === 0 && isSameSpec(kind, name, rest, minimal) ? rest : minimal;
  }, spec);
}
