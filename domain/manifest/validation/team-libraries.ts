/**
 * Library references of a team that the management API makes. Some of its libraries may be in no namespace, unlike
 * those
 * of manifests: the schema of the declarations requires a namespace in each reference.
 */
import type { Spec } from "../../kinds/kinds.ts";
import type { Schema } from "../../kinds/schema.ts";
import { isRecord } from "../document/identity.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Namespace that stands in for the missing namespace of a reference. */
const STAND_IN = "in-no-namespace";

/** Returns the schema of a team's spec, with references that may leave their namespace out. */
export function withFreeLibraries(spec: Schema): Schema {
  const { members, mcpAgentPolicy } = spec.properties ?? {};
  const ofMember = members?.items?.properties?.libraryRefs;
  const ofPolicy = mcpAgentPolicy?.properties?.defaultLibraryRef;
  if (
    members?.items === undefined ||
    ofMember?.items === undefined ||
    mcpAgentPolicy === undefined ||
    ofPolicy === undefined
  ) {
    throw new Error("the schema of PlatformTeam is another than it was");
  }
  const libraryRefs = { ...ofMember, items: free(ofMember.items) };
  const member = { ...members.items, properties: { ...members.items.properties, libraryRefs } };
  return {
    ...spec,
    properties: {
      ...spec.properties,
      members: { ...members, items: member },
      mcpAgentPolicy: {
        ...mcpAgentPolicy,
        properties: { ...mcpAgentPolicy.properties, defaultLibraryRef: free(ofPolicy) },
      },
    },
  };
}

function free(reference: Schema): Schema {
  const { namespace, name } = reference.properties ?? {};
  if (namespace === undefined || name === undefined) throw new Error("a reference has a namespace and a name");
  const description =
    "The MemoryLibrary's namespace, one of the team's; left out for a library that is in no namespace.";
  return { ...reference, required: ["name"], properties: { name, namespace: { ...namespace, description } } };
}

/** Fills in the stand-in namespace, so that a spec with free references meets the schema of the declarations. */
export function fillInNamespaces(spec: Fields): Fields {
  const { namespaces = [], members, mcpAgentPolicy } = spec;
  const isFree = isFreeReference(defaultOf(spec));
  return {
    ...spec,
    ...(isFree && Array.isArray(namespaces) && { namespaces: [...new Set([...namespaces, STAND_IN])] }),
    ...(isFree && isRecord(mcpAgentPolicy) && { mcpAgentPolicy: { defaultLibraryRef: fillIn(defaultOf(spec)) } }),
    ...(Array.isArray(members) && { members: members.map(fillInMember) }),
  };
}

function fillInMember(member: unknown): unknown {
  const refs = librariesOf(member);
  return isRecord(member) && refs.length > 0 ? { ...member, libraryRefs: refs.map(fillIn) } : member;
}

function fillIn(reference: unknown): unknown {
  return isRecord(reference) && isFreeReference(reference) ? { ...reference, namespace: STAND_IN } : reference;
}

/**
 * Returns a checked spec, with an empty namespace in each reference that was given without one.
 *
 * @param given the argument of {@link fillInNamespaces}
 */
export function freeLibraries<T extends Spec<"PlatformTeam">>(read: T, given: Fields): T {
  const { namespaces, members } = given;
  const hadStandIn = Array.isArray(namespaces) && namespaces.includes(STAND_IN);
  const { mcpAgentPolicy } = read;
  const reference = mcpAgentPolicy?.defaultLibraryRef;
  const isFree = isFreeReference(defaultOf(given));
  return {
    ...read,
    namespaces: isFree && !hadStandIn ? read.namespaces.filter((name) => name !== STAND_IN) : read.namespaces,
    ...(isFree && reference && { mcpAgentPolicy: { defaultLibraryRef: { ...reference, namespace: "" } } }),
    members: read.members.map((member, i) => {
      const refs = librariesOf(Array.isArray(members) ? members[i] : undefined);
      const libraryRefs = member.libraryRefs?.map((ref, j) =>
        isFreeReference(refs[j]) ? { ...ref, namespace: "" } : ref,
      );
      return { ...member, ...(libraryRefs && { libraryRefs }) };
    }),
  };
}

function defaultOf({ mcpAgentPolicy }: Fields): unknown {
  return isRecord(mcpAgentPolicy) ? mcpAgentPolicy.defaultLibraryRef : undefined;
}

function librariesOf(member: unknown): readonly unknown[] {
  return isRecord(member) && Array.isArray(member.libraryRefs) ? member.libraryRefs : [];
}

function isFreeReference(reference: unknown): boolean {
  return isRecord(reference) && (reference.namespace === undefined || reference.namespace === "");
}
