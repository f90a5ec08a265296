/** What an account may do, by `kubectl auth can-i --list`, and what it did, by the API server's audit log. */
import { type FileHandle, open } from "node:fs/promises";

/** One verb on one resource. */
export type Right = {
  readonly verb: string;
  /** As kubectl writes it: `platformkeys.keyplane.dev/status`. */
  readonly resource: string;
  /** Empty for the whole cluster. */
  readonly namespace: string;
  /** Empty for any. */
  readonly name: string;
};

/** A request, and whether the authorizer let it through. */
export type Use = Right & { readonly allowed: boolean };

/** The rows of `kubectl auth can-i --list` that are about resources: one for each verb and name. */
export function rightsListed(table: string, namespace: string): Right[] {
  return [...table.matchAll(/^(\S+) +\[.*?\] +\[(.*?)\] +\[(.*?)\]$/gm)].flatMap(
    ([, resource = "", names = "", verbs = ""]) =>
      names.split(" ").flatMap((name) => verbs.split(" ").map((verb) => ({ verb, resource, namespace, name }))),
  );
}

/** What a user has asked for, from a time on, in milliseconds since the epoch. */
export const usesOf = (auditLog: string, username: string, since: number): Promise<readonly Use[]> =>
  followUses(auditLog, username, since)();

/** The same again and again: each time the log is read on from where it ended the last time. */
export function followUses(auditLog: string, username: string, since: number): () => Promise<readonly Use[]> {
  const uses: Use[] = [];
  let offset = 0;
  return async () => {
    const log = await open(auditLog);
    const bytes = await readFrom(log, offset).finally(() => log.close());
    const whole = bytes.subarray(0, bytes.lastIndexOf("\n") + 1);
    offset += whole.length;
    for (const line of whole.toString().split("\n")) {
      if (!line.includes(username)) continue;
      const event: AuditEvent = JSON.parse(line);
      if (event.user.username === username && Date.parse(event.requestReceivedTimestamp) >= since)
        uses.push(useOf(event));
    }
    return uses;
  };
}

async function readFrom(file: FileHandle, offset: number): Promise<Buffer> {
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - offset), 0, size - offset, offset);
  return buffer.subarray(0, bytesRead);
}

function useOf({ verb, objectRef, requestURI, annotations }: AuditEvent): Use {
  const { resource = requestURI, apiGroup, subresource, namespace = "", name = "" } = objectRef ?? {};
  const grouped = apiGroup === undefined ? resource : `${resource}.${apiGroup}`;
  return {
    verb,
    resource: subresource === undefined ? grouped : `${grouped}/${subresource}`,
    // A namespace's own is what is asked for when it is read, which is a right on the cluster.
    namespace: resource === "namespaces" ? "" : namespace,
    name,
    allowed: annotations["authorization.k8s.io/decision"] === "allow",
  };
}

export const covers = (right: Right, use: Right): boolean =>
  right.verb === use.verb &&
  right.resource === use.resource &&
  (right.namespace === "" || right.namespace === use.namespace) &&
  (right.name === "" || right.name === use.name);

export const textOf = ({ verb, resource, namespace, name }: Right): string =>
  [verb, resource, name, namespace && `in ${namespace}`].filter((part) => part !== "").join(" ");

/** Why a right is one that no controller of keys should have; undefined for one that it may have. */
export function sweeping({ verb, resource, namespace }: Right): string | undefined {
  return FORBIDDEN.find(([, matches]) => matches({ verb, resource, namespace }))?.[0];
}

type Matched = Pick<Right, "verb" | "resource" | "namespace">;

const FORBIDDEN: readonly (readonly [string, (right: Matched) => boolean])[] = [
  ["a wildcard", ({ verb, resource }) => verb.includes("*") || resource.includes("*")],
  ["Secrets of the whole cluster", ({ resource, namespace }) => resource === "secrets" && namespace === ""],
  ["rights over rights", ({ verb }) => ["escalate", "bind", "impersonate", "approve", "sign"].includes(verb)],
  ["roles", ({ resource }) => resource.endsWith("rbac.authorization.k8s.io")],
  ["tokens", ({ resource }) => resource.startsWith("serviceaccounts")],
  ["pods and nodes", ({ resource }) => /^(pods|nodes)(\/|$)/.test(resource)],
  ["removal of many at once", ({ verb }) => verb === "deletecollection"],
  [
    "what people declare",
    ({ verb, resource }) => resource.includes("keyplane.dev") && /create|update|delete/.test(verb),
  ],
];

type AuditEvent = {
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly requestURI: string;
  readonly requestReceivedTimestamp: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly apiGroup?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly annotations: Readonly<Record<string, string>>;
};
