import { randomUUID } from "node:crypto";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import { jsonSchema, specSchema } from "../../../domain/manifest/validation/json-schema.ts";
import type { Tx } from "../../../store/database/change.ts";
import { type LibraryDraft, removeLibrary, saveLibrary } from "../../../store/libraries/libraries.ts";
import { findNamesake, type StoredOf } from "../../../store/objects/objects.ts";
import type { ChangeContext } from "../change-context.ts";
import { NEW_NAME, NEW_NAMESPACE, REASON, type ReasonBody, TEAM } from "../request-schemas.ts";
import { requireRightStill } from "../rights.ts";
import { invalid, readGivenObject } from "./diagnostics.ts";
import { nameTaken, requireNamespace, teamFor } from "./placement.ts";
import type { ManagedResource } from "./resource.ts";

const SPEC = { title: "LibrarySpec", ...jsonSchema(specSchema("MemoryLibrary")) };

type CreateBody = ReasonBody & { name: string; namespace: string; team: string; spec: unknown };

export const LIBRARIES: ManagedResource<"library", CreateBody> = {
  kind: "library",
  path: "libraries",
  declaredAs: "MemoryLibrary",
  action: "change libraries",
  title: "Library",
  shown: {},
  specSchema: SPEC,
  createSchema: {
    type: "object",
    additionalProperties: false,
    required: ["name", "team", "spec"],
    properties: { name: NEW_NAME, namespace: NEW_NAMESPACE, team: TEAM, spec: SPEC, reason: REASON },
  },

  example: { name: "handbook", team: "research", spec: { displayName: "Handbook" } },

  show: ({ name, displayName, description, deletionPolicy }) => ({
    spec: {
      ...(displayName === name ? {} : { displayName }),
      ...(description === "" ? {} : { description }),
      deletionPolicy,
    },
  }),

  async create(tx, context, { name, namespace, team: named, spec }) {
    const { id: teamId } = await teamFor(tx, context.rights, named, "change libraries");
    await requireRightStill(tx, context.principal, teamId, "change libraries");
    await requireNamespace(tx, teamId, namespace);
    const taken = await findNamesake(tx, "library", { teamId, namespace, name });
    if (taken !== undefined) throw nameTaken("library", taken);
    return save(tx, context, { namespace, name, teamId, ownerUid: randomUUID() }, spec);
  },

  async replace(tx, context, stored, spec) {
    await save(tx, context, stored, spec, stored);
  },

  async remove(tx, { author: by }, { cluster, namespace, name, ownerUid, deletionPolicy: policy }) {
    await removeLibrary(tx, { cluster, namespace, name, ownerUid, policy, by });
  },
};

async function save(
  tx: Tx,
  { author }: ChangeContext,
  library: Pick<LibraryDraft, "namespace" | "name" | "teamId" | "ownerUid">,
  given: unknown,
  stored?: StoredOf["library"],
): Promise<{ id: string }> {
  const { namespace, name, teamId, ownerUid } = library;
  const old = stored && { spec: { displayName: stored.displayName }, status: {} };
  const spec = readGivenObject("MemoryLibrary", { name, namespace, spec: given }, old, stored);
  for (const field of ["embedding", "extraction"] as const) {
    if (spec[field] === undefined) continue;
    const message = "is for a library that a manifest declares, whose controller makes its key: leave it out";
    throw invalid([{ path: `spec.${field}`, message }]);
  }
  const { libraryId: id } = await saveLibrary(tx, {
    cluster: API_CLUSTER,
    namespace,
    name,
    ownerUid,
    teamId,
    displayName: spec.displayName ?? name,
    description: spec.description ?? "",
    deletionPolicy: spec.deletionPolicy,
    by: author,
  });
  return { id };
}
