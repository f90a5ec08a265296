import type { RouteRecord, UpstreamRecord } from "../../../domain/access/key-record.ts";
import type { Spec } from "../../../domain/kinds/kinds.ts";
import { isRecord } from "../../../domain/manifest/document/identity.ts";
import type { FieldDiagnostic } from "../../../domain/manifest/validation/check-spec.ts";
import { jsonSchema, specSchema } from "../../../domain/manifest/validation/json-schema.ts";
import { CREDENTIAL_PATTERN, isCredential, MAX_CREDENTIAL_LENGTH } from "../../../domain/provider-credential.ts";
import type { StoredGateway } from "../../../store/objects/objects.ts";
import type { Problem } from "../../http/problems/problem.ts";
import { type GivenObject, invalid, readGivenObject } from "./diagnostics.ts";

/** Parsed request to make or change a gateway. */
export type ReadGateway = {
  readonly publicId: string | undefined;
  readonly routesOnly: boolean;
  readonly operations: Spec<"ModelGateway">["operations"];
  readonly routes: readonly RouteRecord[];
  /** Upstreams. The credential is undefined if the stored credential stays, and false for none. */
  readonly upstreams: readonly (Omit<UpstreamRecord, "credential"> & {
    readonly credential: string | false | undefined;
  })[];
};

/**
 * Schema of a gateway's spec: a ModelGateway's, with each provider's credential in place of the reference to a Secret.
 */
export const GATEWAY_SPEC: Readonly<Record<string, unknown>> = { title: "GatewaySpec", ...withCredentials() };

function withCredentials(): Record<string, unknown> {
  const spec = specSchema("ModelGateway");
  const upstreams = spec.properties?.upstreams;
  const { credentialRef: _, ...fields } = upstreams?.items?.properties ?? {};
  if (upstreams?.items === undefined) throw new Error("the schema of ModelGateway is another than it was");
  return jsonSchema({
    ...spec,
    properties: {
      ...spec.properties,
      upstreams: {
        ...upstreams,
        items: {
          ...upstreams.items,
          required: ["name", "dialect", "baseURL"],
          properties: {
            ...fields,
            credential: {
              type: "string",
              description:
                "The provider's credential; never answered. Where it is left out in a change, the one that is stored stays, as long as the upstream's dialect and baseURL do.",
              minLength: 1,
              maxLength: MAX_CREDENTIAL_LENGTH,
              pattern: CREDENTIAL_PATTERN,
            },
            noCredential: {
              type: "boolean",
              description:
                "True, without a credential, for an upstream that calls go to without one, such as a model server of one's own.",
            },
          },
        },
      },
    },
  });
}

/**
 * Parses a spec like a ModelGateway's, with credentials in place of references.
 *
 * @param old stored gateway, if it is to be changed
 * @throws Problem `invalid`
 */
export function readGateway(given: GivenObject, old?: StoredGateway): ReadGateway {
  const { spec, credentials } = takeCredentials(given.spec);
  const read = readGivenObject(
    "ModelGateway",
    { ...given, spec },
    old && { spec: { upstreams: [], routes: [] }, status: { publicID: old.publicId } },
    old,
  );
  const upstreams = read.upstreams.map(({ name, dialect, baseURL, credentialRef }, i) => {
    const credential = credentialRef === undefined ? (false as const) : credentials[i];
    const upstream = { name, dialect, baseUrl: baseURL.replace(/\/+$/, ""), credential };
    if (upstream.credential === undefined && !keepsCredential(upstream, old)) throw noCredential(i);
    return upstream;
  });
  const { publicID: publicId, routesOnly, operations } = read;
  return { publicId, routesOnly, operations, routes: read.routes.map(routeRecord), upstreams };
}

/**
 * True if an upstream keeps its stored credential: only if its dialect and base URL stay. Otherwise a caller who may
 * not read the credential could have it sent to an address of their own.
 */
function keepsCredential({ name, dialect, baseUrl }: Omit<UpstreamRecord, "credential">, old?: StoredGateway): boolean {
  const before = old?.upstreams.find((upstream) => upstream.name === name);
  return before?.hasCredential === true && before.dialect === dialect && before.baseUrl === baseUrl;
}

export function noCredential(i: number): Problem {
  const message =
    "is missing: write the provider's credential, also when an upstream's dialect or baseURL changes, or noCredential: true for an upstream that takes none";
  return invalid([{ path: `spec.upstreams[${i}].credential`, message }]);
}

/**
 * Replaces each credential by a reference, so that the schema of declarations fits, and returns the credentials apart.
 * An upstream without a credential gets no reference.
 */
function takeCredentials(spec: unknown): { spec: unknown; credentials: (string | undefined)[] } {
  if (!isRecord(spec) || !Array.isArray(spec.upstreams)) return { spec, credentials: [] };
  const diagnostics: FieldDiagnostic[] = [];
  const credentials: (string | undefined)[] = [];
  const upstreams = spec.upstreams.map((upstream: unknown, i) => {
    if (!isRecord(upstream)) return upstream;
    const { credential, credentialRef, noCredential = false, ...rest } = upstream;
    const path = `spec.upstreams[${i}]`;
    if (credentialRef !== undefined) {
      diagnostics.push({
        path: `${path}.credentialRef`,
        message: "is for a gateway that is declared: write credential",
      });
    }
    // Refused here, without repeating the URL, which may hold a credential.
    if (typeof rest.baseURL === "string" && /[@?#]/.test(rest.baseURL)) {
      diagnostics.push({ path: `${path}.baseURL`, message: "must be without credentials, query and fragment" });
    }
    if (typeof credential === "string" && isCredential(credential)) credentials[i] = credential;
    else if (credential !== undefined) {
      diagnostics.push({ path: `${path}.credential`, message: "must be visible ASCII without spaces" });
    }
    if (typeof noCredential !== "boolean") {
      diagnostics.push({ path: `${path}.noCredential`, message: "must be true or false" });
    } else if (noCredential && credential !== undefined) {
      diagnostics.push({ path: `${path}.noCredential`, message: "excludes credential: remove one of them" });
    }
    return noCredential === true ? rest : { ...rest, credentialRef: { name: "credential" } };
  });
  if (diagnostics.length > 0) throw invalid(diagnostics);
  return { spec: { ...spec, upstreams }, credentials };
}

function routeRecord({ routeID, ...route }: Spec<"ModelGateway">["routes"][number]): RouteRecord {
  return { ...route, routeId: routeID };
}
