import { randomUUID } from "node:crypto";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import { generatedPublicId } from "../../../domain/public-id.ts";
import type { Tx } from "../../../store/database/change.ts";
import { PublicIdTakenError } from "../../../store/database/errors.ts";
import {
  findPublicIdOfPlace,
  type GatewayDraft,
  readUpstreamCredential,
  releaseGateway,
  saveGateway,
} from "../../../store/gateways/gateways.ts";
import { findNamesake } from "../../../store/objects/objects.ts";
import type { ChangeContext } from "../change-context.ts";
import { UNSEEN } from "../preconditions.ts";
import { NEW_NAME, NEW_NAMESPACE, REASON, type ReasonBody, TEAM } from "../request-schemas.ts";
import { requireRightStill } from "../rights.ts";
import { invalid } from "./diagnostics.ts";
import { nameTaken, requireNamespace, teamFor } from "./placement.ts";
import { GATEWAY_SPEC, noCredential, type ReadGateway, readGateway } from "./read-gateway.ts";
import type { ManagedResource } from "./resource.ts";

type CreateBody = ReasonBody & { name: string; namespace: string; team: string; spec: unknown };

/** Gateways in the management API. A provider's credential goes in, is stored encrypted, and never comes out. */
export const GATEWAYS: ManagedResource<"gateway", CreateBody> = {
  kind: "gateway",
  path: "gateways",
  declaredAs: "ModelGateway",
  action: "change gateways",
  title: "Gateway",
  shown: {
    publicID: { type: "string" },
    missingCredentials: { type: "array", description: "Upstreams that forward nothing.", items: { type: "string" } },
  },
  specSchema: GATEWAY_SPEC,
  createSchema: {
    type: "object",
    additionalProperties: false,
    required: ["name", "team", "spec"],
    properties: { name: NEW_NAME, namespace: NEW_NAMESPACE, team: TEAM, spec: GATEWAY_SPEC, reason: REASON },
  },

  example: {
    name: "main",
    team: "research",
    spec: {
      upstreams: [{ name: "openai", dialect: "openai", baseURL: "https://api.openai.com", credential: "..." }],
      routes: [{ model: "fast-chat", routeID: "rt-fast", upstream: "openai", upstreamModel: "gpt-5-mini" }],
    },
  },

  show: ({ publicId, routesOnly, operations, routes, upstreams, credentials }) => ({
    [UNSEEN]: credentials,
    publicID: publicId,
    missingCredentials: upstreams
      .filter(({ takesCredential, hasCredential }) => takesCredential && !hasCredential)
      .map(({ name }) => name),
    spec: {
      publicID: publicId,
      upstreams: upstreams.map(({ name, dialect, baseUrl, takesCredential }) => ({
        ...{ name, dialect, baseURL: baseUrl },
        ...(!takesCredential && { noCredential: true }),
      })),
      routes: routes.map(({ routeId, ...route }) => ({ ...route, routeID: routeId })),
      routesOnly,
      operations,
    },
  }),

  async create(tx, context, { name, namespace, team: named, spec }) {
    const { id: teamId } = await teamFor(tx, context.rights, named, "change gateways");
    await requireRightStill(tx, context.principal, teamId, "change gateways");
    const read = readGateway({ name, namespace, spec });
    await requireNamespace(tx, teamId, namespace);
    const taken = await findNamesake(tx, "gateway", { teamId, namespace, name });
    if (taken !== undefined) throw nameTaken("gateway", taken);
    const ownerUid = randomUUID();
    const place = { namespace, name, teamId };
    const publicId =
      read.publicId ??
      (await findPublicIdOfPlace(tx, { cluster: API_CLUSTER, ...place })) ??
      generatedPublicId(ownerUid, teamId);
    return save(tx, context, { ...place, ownerUid, publicId }, read);
  },

  async replace(tx, context, stored, spec) {
    await save(tx, context, stored, readGateway({ ...stored, spec }, stored));
  },

  async remove(tx, { author }, { cluster, ownerUid }) {
    await releaseGateway(tx, cluster, ownerUid, author);
  },
};

type SavedGateway = Pick<GatewayDraft, "namespace" | "name" | "teamId" | "ownerUid" | "publicId"> & {
  /** Id of an existing gateway, whose stored credentials may stay. */
  readonly id?: string;
};

async function save(
  tx: Tx,
  { author, keyring }: ChangeContext,
  { namespace, name, teamId, ownerUid, publicId, id: storedId }: SavedGateway,
  { routesOnly, operations, routes, upstreams: given }: ReadGateway,
): Promise<{ id: string }> {
  const upstreams: GatewayDraft["upstreams"][number][] = [];
  for (const [i, { credential: fresh, ...upstream }] of given.entries()) {
    const credential =
      fresh ?? ((storedId && (await readUpstreamCredential(tx, storedId, upstream.name, keyring))) || undefined);
    // None is stored, or it was declared without: only noCredential says so anew.
    if (credential === undefined) throw noCredential(i);
    upstreams.push({ ...upstream, credential });
  }
  try {
    const reference = { cluster: API_CLUSTER, namespace, name, ownerUid, teamId, publicId };
    const draft = { ...reference, routesOnly, operations, upstreams, routes, by: author };
    const { gatewayId: id } = await saveGateway(tx, draft, keyring);
    return { id };
  } catch (error) {
    if (!(error instanceof PublicIdTakenError)) throw error;
    throw invalid([{ path: "spec.publicID", message: "belongs to another gateway: choose another" }]);
  }
}
