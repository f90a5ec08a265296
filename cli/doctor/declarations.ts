/** Checks that what is declared in a cluster takes effect. */
import type { ApiClient } from "../../controller/cluster/kubernetes/api/api-client.ts";
import { isNotServed } from "../../controller/cluster/kubernetes/api/api-error.ts";
import { objectsPath } from "../../controller/cluster/kubernetes/resources.ts";
import { condition } from "../../domain/conditions.ts";
import { errorText } from "../../domain/error-text.ts";
import { isClusterScoped, KINDS, type Kind } from "../../domain/kinds/kinds.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import { nameSome } from "../../domain/name-some.ts";
import { readiness, type StatusObject } from "../data/status-files.ts";
import { listAll } from "../source/list-all.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";

/** Largest number of declarations with one reason that a finding names. */
const MAX_NAMED = 5;
/** Reasons of a declaration that has ended, by its expiry or on request. They are no fault. */
const ENDED = new Set(["Expired", "Revoked", "Deleting"]);

/** Declarations of one kind. */
export type DeclaredObjects = { readonly kind: Kind; readonly objects: readonly Declaration[] };

/**
 * Lists the declarations of all kinds.
 *
 * @param namespaces namespaces that the controller serves; null for all
 * @returns the declarations, and a finding for each kind that cannot be read
 */
export async function listDeclarations(
  api: Pick<ApiClient, "request">,
  namespaces: readonly string[] | null,
): Promise<{ declared: readonly DeclaredObjects[]; unread: readonly Finding[] }> {
  const declared: DeclaredObjects[] = [];
  const unread: Finding[] = [];
  for (const kind of KINDS) {
    try {
      const listedNamespaces = namespaces === null || isClusterScoped(kind) ? [""] : namespaces;
      const lists = await Promise.all(listedNamespaces.map((namespace) => listAll(api, objectsPath(kind, namespace))));
      declared.push({ kind, objects: lists.flat().filter(isDeclaration) });
    } catch (error) {
      // Which another check says.
      if (isNotServed(error)) continue;
      const step = "run it as a user who may list them";
      unread.push(note("declarations", `what is declared of ${kind} cannot be read: ${errorText(error)}`, step));
    }
  }
  return { declared, unread };
}

/** Reports declarations that are not ready, by kind and reason. */
export function checkDeclarations({ declared, unread }: Awaited<ReturnType<typeof listDeclarations>>): Finding[] {
  const findings = [...unread, ...declared.flatMap(({ kind, objects }) => judgeDeclarations(kind, objects, STEP))];
  return findings.length > 0 ? findings : [allReady(declared.flatMap(({ objects }) => objects))];
}

const STEP = "do what this says; kubectl get keyplane -A -o wide shows all that is declared";

/** Condition that stands for a declaration without any condition yet. */
const NOT_SEEN = condition("Ready", "Unknown", "Pending", "No controller has reconciled it yet.");

/** Parts of a declaration that are read. */
export type Declaration = Pick<StatusObject<Kind>, "metadata" | "status">;

function isDeclaration(object: unknown): object is Declaration {
  return isRecord(object) && isRecord(object.metadata);
}

/** Reports that all declarations are ready that have not ended. */
export function allReady(objects: readonly Pick<Declaration, "status">[]): Finding {
  const ended = objects.filter(hasEnded).length;
  const others = ended === 0 ? "" : `, ${ended} ${ended === 1 ? "has" : "have"} ended`;
  return ok("declarations", `${objects.length - ended} declarations are ready${others}`);
}

function hasEnded({ status }: Pick<Declaration, "status">): boolean {
  const ready = readiness({ status });
  return ready?.type === "Ready" && ready.status !== "True" && ENDED.has(ready.reason);
}

/**
 * Reports declarations that are not ready, by reason. Those that have ended are left out, and those that wait
 * for servers are no fault.
 *
 * @param step what to do about a fault
 */
export function judgeDeclarations(kind: Kind, objects: readonly Declaration[], step: string): Finding[] {
  const notReady = objects.flatMap((object) => {
    const { namespace, name } = object.metadata;
    const ready = readiness(object);
    const isFine = (ready?.type === "Ready" && ready.status === "True") || hasEnded(object);
    const { reason, message } = ready ?? NOT_SEEN;
    return isFine ? [] : [{ title: namespace ? `${namespace}/${name}` : name, reason, message }];
  });
  return Object.entries(Object.groupBy(notReady, ({ reason }) => reason)).map(([reason, some = []]) => {
    const titles = some.map(({ title }) => title);
    const message = `${kind} ${nameSome(titles, MAX_NAMED)}: not ready: ${reason}: ${some[0]?.message}`;
    return reason === "Confirming"
      ? note("declarations", message, "wait; a server that is silent is named under replicas")
      : wrong("declarations", message, step);
  });
}
